/** Finished answers, as a proof thread and an estimate thread give them back. */
import type {Failure} from "./failure.ts";

/**
 * Finished answers: for each call its whole JSON-RPC response object followed by one comma.
 *
 *   answer k = text[ends[k-1] .. ends[k] - 1), its comma at ends[k] - 1
 *
 * A call that failed has an empty range and an entry in `failures`.
 */
export interface Answers {
  /** May be the front of larger memory: the job's. */
  readonly text: Uint8Array;
  /** The job's memory where `text` is not in it. */
  readonly unused?: ArrayBuffer;
  readonly ends: Uint32Array;
  readonly failures: readonly (Failure & {readonly call: number})[];
}
