/** What one thread saw arrive in one second, whenever it was due. Sent to the main thread as the second ends. */

/** The row of all that arrived after the measured time. */
export const AFTER_THE_END: number = Number.POSITIVE_INFINITY;

export interface SecondRow {
  /** Since the measured time began; below 0 in the warm-up; AFTER_THE_END. */
  readonly second: number;
  /** Requests answered with HTTP 200. */
  answered: number;
  /** Requests that failed: HTTP status, socket, timeout. */
  failed: number;
  /** Calls with a result. */
  results: number;
  /** Calls with an error or malformed. */
  callErrors: number;
  proofs: number;
  /** Of bodies. */
  bytes: number;
}

/** `latency`: encoded histogram of those that were due in the measured time. */
export type PostedRow = Readonly<SecondRow> & {readonly latency: string | null};

export function createRow(second: number): SecondRow {
  return {second, answered: 0, failed: 0, results: 0, callErrors: 0, proofs: 0, bytes: 0};
}

export function addRow(into: SecondRow, from: Readonly<SecondRow>): void {
  into.answered += from.answered;
  into.failed += from.failed;
  into.results += from.results;
  into.callErrors += from.callErrors;
  into.proofs += from.proofs;
  into.bytes += from.bytes;
}
