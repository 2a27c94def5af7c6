/** The messages to and from a driver. */
import type {LoadOptions} from "../loadOptions.ts";
import type {Keys} from "../requests/keys.ts";
import type {BlockSpan, RequestPlan} from "../requests/requestMaker.ts";
import type {Endpoint} from "./connection.ts";
import type {DriverEnd} from "./recorder.ts";
import type {Times} from "./schedule.ts";
import type {PostedRow} from "./timeline.ts";

export interface DriverPlan extends Pick<LoadOptions, "seed" | "rate" | "threads"> {
  readonly endpoint: Endpoint;
  readonly requests: RequestPlan;
  readonly thread: number;
  readonly connections: number;
  /** Number of answers that this thread samples for verification. */
  readonly samples: number;
}

export type ToDriver =
  | {readonly kind: "start"; readonly times: Times}
  | {readonly kind: "stop"; readonly endMs: number};

export type FromDriver =
  | {readonly kind: "ready"}
  | {readonly kind: "row"; readonly row: PostedRow}
  | {readonly kind: "end"; readonly end: DriverEnd};

/**
 * Verified answers come from at least this many requests, because the calls of one batch are similar. Twice as many
 * batches as necessary are sampled, because some calls may have got errors.
 */
const MIN_SAMPLES = 16;

export function planDrivers(
  options: LoadOptions,
  endpoint: Endpoint,
  blocks: BlockSpan | undefined,
  keys: Keys,
): DriverPlan[] {
  const {seed, rate, threads, connections, verify} = options;
  const {style, batch, slots, absent, estimates, estimateMethod, estimateParams} = options;
  const samples =
    batch === 1 ? verify : Math.max(Math.ceil((2 * verify) / batch), Math.min(verify, MIN_SAMPLES));
  return Array.from({length: threads}, (_, thread) => ({
    endpoint,
    requests: {style, batch, slots, absent, estimates, estimateMethod, estimateParams, blocks, keys},
    ...{seed, rate, threads},
    thread,
    connections: shareOf(connections, threads, thread),
    samples: shareOf(samples, threads, thread),
  }));
}

/** @returns the `index`-th of `parts` shares of `whole`; shares differ by at most one */
function shareOf(whole: number, parts: number, index: number): number {
  return Math.floor((whole * (index + 1)) / parts) - Math.floor((whole * index) / parts);
}
