/**
 * Latency histograms (HdrHistogram): microseconds, three significant digits, up to an hour.
 *
 * Uses the library's JavaScript, not its WebAssembly, whose memory must be freed: recording takes 0.1 us per request.
 */
import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram,
} from "hdr-histogram-js";

export {encodeIntoCompressedBase64 as encodeHistogram, type Histogram};

const HOUR_US = 3_600_000_000;
const COUNT_BITS = 64;

/** In milliseconds, with three significant digits. */
export type LatencyFigures = NonNullable<ReturnType<typeof readFigures>>;

export type LatencyReport = LatencyFigures & {readonly distribution: Distribution};

/** Percentile (0 .. 100) and milliseconds, both ascending. */
type Distribution = readonly (readonly [percentile: number, ms: number])[];

export function createHistogram(): Histogram {
  return build({
    bitBucketSize: COUNT_BITS,
    autoResize: false,
    lowestDiscernibleValue: 1,
    highestTrackableValue: HOUR_US,
    numberOfSignificantValueDigits: 3,
    useWebAssembly: false,
  });
}

export function recordMs(histogram: Histogram, ms: number): void {
  histogram.recordValue(Math.min(HOUR_US, Math.max(0, Math.round(ms * 1000))));
}

export function decodeHistogram(text: string): Histogram {
  return decodeFromCompressedBase64(text, COUNT_BITS);
}

export function addHistograms(texts: readonly string[]): Histogram {
  const sum = createHistogram();
  for (const text of texts) sum.add(decodeHistogram(text));
  return sum;
}

/** @returns undefined for a histogram without values */
export function reportLatency(histogram: Histogram): LatencyReport | undefined {
  const figures = readFigures(histogram);
  return figures === undefined ? undefined : {...figures, distribution: readDistribution(histogram)};
}

export function readFigures(histogram: Histogram) {
  if (histogram.totalCount === 0) return undefined;
  return {
    count: histogram.totalCount,
    p50Ms: percentileMs(histogram, 50),
    p90Ms: percentileMs(histogram, 90),
    p99Ms: percentileMs(histogram, 99),
    p999Ms: percentileMs(histogram, 99.9),
    maxMs: roundMs(histogram.maxValue),
  };
}

export function percentileMs(histogram: Histogram, percentile: number): number {
  return roundMs(histogram.getValueAtPercentile(percentile));
}

function roundMs(us: number): number {
  return Math.round(us) / 1000;
}

/** Steps per factor of ten in 1 - percentile. */
const STEPS = 8;

/** Percentiles 0, 25, 43.8, ... 90, ... 99, ... 99.9, ... 100, up to the resolution of the values. */
function readDistribution(histogram: Histogram): Distribution {
  const points: [number, number][] = [];
  for (let step = 0; histogram.totalCount * 10 ** (-step / STEPS) > 1; step++) {
    const percentile = 100 * (1 - 10 ** (-step / STEPS));
    points.push([Number(percentile.toPrecision(8)), percentileMs(histogram, percentile)]);
  }
  points.push([100, roundMs(histogram.maxValue)]);
  return points;
}
