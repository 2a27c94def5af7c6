/**
 * One share of the work for a large multiproof: what the main thread hands to a proof thread.
 *
 *   locate 0 | locate 1 | ..  ->  write 0  ->  write 1 | write 2 | ..        `|`: at the same time, in any order
 *
 * The texts of the write shares, one after another, are the text of the whole call. Those of the locate shares are empty.
 */
export interface MultiJob {
  /** The memory of a MultiTables. Earlier shares have written into it. */
  readonly tables: SharedArrayBuffer;
  readonly share: Share;
  /** JSON text of the call's id. */
  readonly id: string;
  /** As in a ProveJob. */
  readonly memory?: ArrayBuffer;
}

export interface Share {
  /** `locate`: finds a range of the call's units. `write`: makes the key tables if it is the first, and writes a range of records. */
  readonly stage: "locate" | "write";
  /** Which one of its stage it is. */
  readonly index: number;
  /** Shares of its stage, at least 1. */
  readonly count: number;
}

/** The half-open range of `total` things that a share has. */
export function rangeOf({index, count}: Share, total: number): [from: number, end: number] {
  return [Math.floor((total * index) / count), Math.floor((total * (index + 1)) / count)];
}
