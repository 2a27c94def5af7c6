/**
 * How many calls of each method ended with which code (0: a result). Plain counts: a labelled prom-client counter costs
 * as much per call as answering it does; they are handed over when /metrics is read.
 */

/** The label of every method that there is not, so that callers cannot make labels. */
export const UNKNOWN_METHOD = "unknown";

export class CallTally {
  private readonly counts = new Map<string, Map<number, number>>();

  constructor(methodNames: readonly string[]) {
    for (const name of [...methodNames, UNKNOWN_METHOD]) this.counts.set(name, new Map());
  }

  add(method: string, code: number, count: number): void {
    if (count === 0) return;
    const codes = this.counts.get(method) ?? (this.counts.get(UNKNOWN_METHOD) as Map<number, number>);
    codes.set(code, (codes.get(code) ?? 0) + count);
  }

  *entries(): Generator<{method: string; code: number; count: number}> {
    for (const [method, codes] of this.counts) for (const [code, count] of codes) yield {method, code, count};
  }
}
