/** What /metrics shows. */
import type {RequestRecord} from "../request/requestRecord.ts";
import {type FigureSources, type FigureValues, readFigures} from "./figures.ts";
import {type FigureName, HELP} from "./figureTable.ts";
import {Latencies} from "./latencies.ts";
import {writeFigures, writeHistogram} from "./metricsText.ts";
import {ProcessFigures} from "./processFigures.ts";

const TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8";
const REQUESTS_HELP =
  "Time from the last byte of a request's body to the last byte of its answer, including slow readers";
const BOUNDS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export class Metrics {
  /** Bytes of tables that --check-store has checked, and checks. undefined without it. */
  verified: {readonly done: number; readonly all: number} | undefined;
  hasVerifyFailed = false;
  readonly refusedBodies = {too_large: 0, no_room: 0};
  private aborted = 0;
  private readonly requests = new Latencies(BOUNDS_SECONDS);
  private readonly process = new ProcessFigures();

  constructor(private readonly sources: FigureSources) {}

  observeRequest({method}: RequestRecord, durationMs: number, isAborted: boolean): void {
    this.requests.observe(method, durationMs / 1000);
    if (isAborted) this.aborted++;
  }

  async read(): Promise<{type: string; text: string}> {
    const {store} = this.sources.engine;
    // Without a figure while the store's folder is gone: /metrics tells of the rest then.
    const disk = await store.readDisk().catch(() => undefined);
    const values: FigureValues = {
      ...this.process.read(),
      ...readFigures(this.sources),
      proofd_bodies_refused_total: {reason: Object.entries(this.refusedBodies)},
      proofd_disk_free_bytes: disk?.free,
      proofd_disk_size_bytes: disk?.size,
      proofd_requests_aborted_total: this.aborted,
      proofd_store_bytes: {kind: await store.readSizes()},
      proofd_verify_bytes: {which: Object.entries(this.verified ?? {})},
      proofd_verify_failed: Number(this.hasVerifyFailed),
    };
    const families = [
      writeHistogram("proofd_request_duration_seconds", REQUESTS_HELP, "method", this.requests),
    ];
    for (const name of Object.keys(values) as FigureName[]) {
      const value = values[name];
      if (value === undefined) continue;
      if (typeof value === "number") families.push(writeFigures(name, HELP[name], [], [[value]]));
      else
        for (const [labels, rows] of Object.entries(value))
          families.push(writeFigures(name, HELP[name], labels.split(","), rows));
    }
    return {type: TEXT_TYPE, text: families.join("")};
  }
}
