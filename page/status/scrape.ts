/** One answer of /metrics, in the Prometheus text format. */

interface Row {
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

const LINE = /^(\w+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

export class Scrape {
  private readonly families = new Map<string, Row[]>();

  /** @param atMs - when it was read. @param ownCalls - calls that this page had made for its status */
  constructor(
    text: string,
    readonly atMs: number,
    readonly ownCalls: number,
  ) {
    for (const line of text.split("\n")) {
      const [, name, labels = "", value] = LINE.exec(line) ?? [];
      if (name === undefined) continue;
      const row = {
        labels: new Map([...labels.matchAll(LABEL)].map(([, label, is]) => [label as string, is as string])),
        value: value === "+Inf" ? Number.POSITIVE_INFINITY : Number(value),
      };
      const family = this.families.get(name);
      if (family === undefined) this.families.set(name, [row]);
      else family.push(row);
    }
  }

  /** Sum of the values; undefined if there is no such metric. */
  sum(name: string): number | undefined {
    return this.families.get(name)?.reduce((sum, {value}) => sum + value, 0);
  }

  by(name: string, label: string): ReadonlyMap<string, number> {
    const sums = new Map<string, number>();
    for (const {labels, value} of this.families.get(name) ?? []) {
      const key = labels.get(label) ?? "";
      sums.set(key, (sums.get(key) ?? 0) + value);
    }
    return sums;
  }

  /** The label of the current state, whose value is 1. */
  state(name: string, label: string): string | undefined {
    return [...this.by(name, label)].find(([, value]) => value === 1)?.[0];
  }
}
