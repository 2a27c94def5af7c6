/** Counts the calls by method and by the code that they ended with (0: a result). Labels are written when /metrics is read. */

/** The label for all unknown methods, so that callers cannot create labels. */
const UNKNOWN_METHOD = "unknown";

export class CallTally {
  private readonly counts = new Map<string, Map<number, number>>();

  constructor(methodNames: readonly string[]) {
    for (const name of [...methodNames, UNKNOWN_METHOD]) this.counts.set(name, new Map());
  }

  add(method: string, code: number): void {
    const codes = this.counts.get(method) ?? (this.counts.get(UNKNOWN_METHOD) as Map<number, number>);
    codes.set(code, (codes.get(code) ?? 0) + 1);
  }

  *rows(): Generator<[method: string, code: string, count: number]> {
    for (const [method, codes] of this.counts)
      for (const [code, count] of codes) yield [method, String(code), count];
  }
}
