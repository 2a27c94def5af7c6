/** `proofd serve` in the test's own process: for tests that need no signal, exit code or crash. */
import {pino} from "pino";
import {DEFAULT_LIMITS, type Limits} from "../../../server/limits.ts";
import {type RunningService, startService} from "../../../service/runningService.ts";
import type {ServiceOptions} from "../../../service/serviceOptions.ts";
import type {ProofPool} from "../../../workers/engine.ts";
import {DEFAULT_ESTIMATE_SETTINGS} from "../../../workers/job/estimateSettings.ts";
import {AskedService} from "./askedService.ts";

export class OwnService extends AskedService {
  private readonly service: RunningService;

  private constructor(service: RunningService) {
    super();
    this.service = service;
  }

  /** Starts a service on a free port, with one proof thread and no estimates unless `options` says otherwise. */
  static async start(
    options: Partial<Omit<ServiceOptions, "limits">> &
      Pick<ServiceOptions, "db"> & {readonly limits?: Partial<Limits>},
  ): Promise<OwnService> {
    const estimate = {
      settings: DEFAULT_ESTIMATE_SETTINGS,
      workers: 1,
      isEnabled: false,
      gateway: undefined,
    };
    const service = await startService(
      {
        host: "127.0.0.1",
        port: 0,
        workers: 1,
        cacheBytes: 16 << 20,
        history: {kind: "all"},
        cors: [],
        allowedHosts: [],
        estimate,
        ...options,
        limits: {...DEFAULT_LIMITS, ...options.limits},
      },
      {log: pino({level: "silent"})},
    );
    return new OwnService(service);
  }

  get url(): string {
    return this.service.url;
  }

  get pool(): ProofPool {
    return this.service.pool;
  }

  stop(timeoutMs = 60_000): Promise<void> {
    return this.service.stop(timeoutMs);
  }
}
