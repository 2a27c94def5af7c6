/** A histogram of /metrics, by one label. Hot: an observation, one per request, is a look-up and two additions. */
export class Latencies {
  /** By label: observations in each bucket, then those above all bounds, then the sum of all. */
  private readonly rows = new Map<string, Float64Array>();

  /** @param bounds - upper bounds of the buckets in seconds, ascending */
  constructor(private readonly bounds: readonly number[]) {}

  observe(label: string, seconds: number): void {
    let row = this.rows.get(label);
    if (row === undefined) {
      row = new Float64Array(this.bounds.length + 2);
      this.rows.set(label, row);
    }
    let bucket = 0;
    while (bucket < this.bounds.length && seconds > (this.bounds[bucket] as number)) bucket++;
    const sum = this.bounds.length + 1;
    row[bucket] = (row[bucket] as number) + 1;
    row[sum] = (row[sum] as number) + seconds;
  }

  /** The samples of a histogram: what follows its name, the label's value, the upper bound if it is a bucket, and the figure. */
  *samples(): Generator<[suffix: string, label: string, bound: string | undefined, figure: number]> {
    for (const [label, row] of this.rows) {
      let count = 0;
      for (let bucket = 0; bucket <= this.bounds.length; bucket++) {
        count += row[bucket] as number;
        yield ["_bucket", label, String(this.bounds[bucket] ?? "+Inf"), count];
      }
      yield ["_sum", label, undefined, row[this.bounds.length + 1] as number];
      yield ["_count", label, undefined, count];
    }
  }
}
