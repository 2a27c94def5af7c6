/** What /metrics shows. */
import {Counter, collectDefaultMetrics, Gauge, Histogram, Registry} from "prom-client";
import {
  type FigureName,
  type FigureSources,
  type FigureValues,
  HELP,
  LABELS,
  readFigures,
} from "./figures.ts";

const BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export class Metrics {
  /** Bytes of tables that --verify has checked, and checks. undefined without it. */
  verified: {readonly done: number; readonly all: number} | undefined;
  hasVerifyFailed = false;
  readonly refusedBodies = {too_large: 0, no_room: 0};
  private aborted = 0;
  private readonly registry = new Registry();
  private readonly duration: Histogram;
  /** Those that have been shown. */
  private readonly shown = new Map<string, Counter | Gauge>();

  constructor(private readonly sources: FigureSources) {
    collectDefaultMetrics({register: this.registry});
    this.duration = new Histogram({
      name: "proofd_request_duration_seconds",
      help: "Time from the last byte of a request's body to the last byte of its answer, including slow readers and waits for finality",
      buckets: BUCKETS_SECONDS,
      registers: [this.registry],
    });
  }

  observeRequest(durationMs: number, isAborted: boolean): void {
    this.duration.observe(durationMs / 1000);
    if (isAborted) this.aborted++;
  }

  async read(): Promise<{type: string; text: string}> {
    const values: FigureValues = {
      ...readFigures(this.sources),
      proofd_bodies_refused_total: Object.entries(this.refusedBodies),
      proofd_requests_aborted_total: this.aborted,
      proofd_verify_bytes: Object.entries(this.verified ?? {}),
      proofd_verify_failed: Number(this.hasVerifyFailed),
    };
    for (const name of Object.keys(values) as FigureName[]) this.show(name, values[name]);
    return {type: this.registry.contentType, text: await this.registry.metrics()};
  }

  private show(name: FigureName, value: FigureValues[FigureName]): void {
    const labels = LABELS[name] ?? [];
    const metric = this.shown.get(name) ?? this.register(name, labels);
    metric.reset();
    // Without labels, a reset leaves a zero.
    if (value === undefined) metric.remove();
    else if (typeof value === "number") metric.inc(value);
    else
      for (const row of value)
        metric.inc(Object.fromEntries(labels.map((label, at) => [label, row[at]])), row.at(-1) as number);
  }

  private register(name: FigureName, labelNames: readonly string[]): Counter | Gauge {
    const options = {name, help: HELP[name], labelNames, registers: [this.registry]};
    const metric = name.endsWith("_total") ? new Counter(options) : new Gauge(options);
    this.shown.set(name, metric);
    return metric;
  }
}
