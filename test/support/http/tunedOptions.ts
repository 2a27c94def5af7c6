/** Options of a service from flags of `proofd serve`, and limits and times that no flag sets. */
import {createCommand} from "../../../cli/flags/flagTable.ts";
import {SERVE_FLAGS} from "../../../cli/flags/serveFlags.ts";
import {readServiceOptions} from "../../../cli/flags/serveOptions.ts";
import type {ServiceOptions} from "../../../server/lifecycle/serviceOptions.ts";
import type {Limits} from "../../../server/limits.ts";
import type {EstimateSettings} from "../../../workers/messages/estimateSettings.ts";

export interface Tuning {
  readonly limits?: Partial<Limits>;
  readonly settings?: Partial<EstimateSettings>;
  /** Default: short, so that no test waits for it. */
  readonly pollMs?: number;
}

const POLL_MS = 100;

/** @throws CommanderError for bad flags */
export async function readTuned(
  flags: readonly string[],
  {limits, settings, pollMs = POLL_MS}: Tuning,
): Promise<{readonly options: ServiceOptions; readonly logLevel: string}> {
  const read: {options: ServiceOptions; logLevel: string}[] = [];
  const command = createCommand("serve", "", SERVE_FLAGS, (values, self) => {
    read.push({options: readServiceOptions(values, self), logLevel: values.logLevel});
  });
  await command.exitOverride().parseAsync(flags, {from: "user"});
  const [{options, logLevel}] = read as [(typeof read)[0]];
  const {estimate, finality} = options;
  return {
    options: {
      ...options,
      limits: {...options.limits, ...limits},
      estimate: {...estimate, settings: {...estimate.settings, ...settings}},
      finality: finality && {...finality, pollMs},
    },
    logLevel,
  };
}
