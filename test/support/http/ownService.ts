/** `proofd serve` in the test's own process: for tests that need no signal, exit code or crash. */
import {pino} from "pino";
import {DEFAULT_LIMITS} from "../../../server/limits.ts";
import {type RunningService, startService} from "../../../service/runningService.ts";
import type {ServiceOptions} from "../../../service/serviceOptions.ts";
import {DEFAULT_ESTIMATE_SETTINGS} from "../../../workers/job/estimateSettings.ts";

/** Starts a service on a free port, with one proof thread and no estimates unless `options` says otherwise. */
export function startOwnService(
  options: Partial<ServiceOptions> & Pick<ServiceOptions, "db">,
): Promise<RunningService> {
  const estimate = {
    settings: DEFAULT_ESTIMATE_SETTINGS,
    workers: 1,
    isEnabled: false,
    gateway: undefined,
  };
  return startService(
    {
      host: "127.0.0.1",
      port: 0,
      workers: 1,
      cacheBytes: 16 << 20,
      history: {kind: "all"},
      cors: [],
      limits: DEFAULT_LIMITS,
      estimate,
      ...options,
    },
    {log: pino({level: "silent"})},
  );
}
