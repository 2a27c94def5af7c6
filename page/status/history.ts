/** Recent rates and latencies, from the counters of successive scrapes. */
import type {Scrape} from "./scrape.ts";

const MAX_SCRAPES = 61;
const CALLS = "proofd_calls_total";

export class History {
  private readonly scrapes: Scrape[] = [];

  add(scrape: Scrape): void {
    const last = this.scrapes.at(-1);
    // A restarted service counts from zero.
    const counter = "process_cpu_seconds_total";
    if (last !== undefined && (scrape.sum(counter) ?? 0) < (last.sum(counter) ?? 0)) this.scrapes.length = 0;
    this.scrapes.push(scrape);
    if (this.scrapes.length > MAX_SCRAPES) this.scrapes.shift();
  }

  get seconds(): number {
    const [first] = this.scrapes;
    return first === undefined ? 0 : secondsBetween(first, this.scrapes.at(-1) as Scrape);
  }

  /** Calls per second between successive scrapes, oldest first, without those of this page. */
  callRates(): number[] {
    return this.scrapes.slice(1).map((scrape, i) => {
      const before = this.scrapes[i] as Scrape;
      return (othersCalls(scrape) - othersCalls(before)) / (secondsBetween(before, scrape) || 1);
    });
  }

  /**
   * Approximate quantiles of a histogram, since the first scrape, or of all measurements if there were none since.
   *
   * @returns [] if there are no measurements
   */
  quantiles(name: string, parts: readonly number[]): number[] {
    const last = this.scrapes.at(-1)?.by(`${name}_bucket`, "le") ?? new Map<string, number>();
    const first = this.scrapes[0]?.by(`${name}_bucket`, "le") ?? new Map<string, number>();
    const recent = [...last].map(([le, count]): Bucket => [boundOf(le), count - (first.get(le) ?? 0)]);
    const all = [...last].map(([le, count]): Bucket => [boundOf(le), count]);
    const buckets = [recent, all].find(one => (one.at(-1)?.[1] ?? 0) > 0);
    return buckets === undefined ? [] : parts.map(part => quantile(buckets, part));
  }
}

/** An upper bound, and the number of measurements up to it. */
type Bucket = readonly [bound: number, count: number];

function boundOf(le: string): number {
  return le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le);
}

/** As Prometheus' histogram_quantile: interpolates within a bucket. */
function quantile(buckets: readonly Bucket[], part: number): number {
  const rank = part * (buckets.at(-1) as Bucket)[1];
  let [low, below] = [0, 0];
  for (const [bound, count] of buckets) {
    if (count >= rank && count > below)
      return bound === Number.POSITIVE_INFINITY
        ? low
        : low + ((bound - low) * (rank - below)) / (count - below);
    [low, below] = [bound, count];
  }
  return low;
}

function othersCalls(scrape: Scrape): number {
  return (scrape.sum(CALLS) ?? 0) - scrape.ownCalls;
}

function secondsBetween(before: Scrape, after: Scrape): number {
  return (after.atMs - before.atMs) / 1000;
}
