/** The figures of the process, under the names that Prometheus has for them and that dashboards for Node expect. */
import {readdirSync, readFileSync} from "node:fs";
import {type IntervalHistogram, monitorEventLoopDelay} from "node:perf_hooks";
import type {FigureValues} from "./figures.ts";

const START_SECONDS = performance.timeOrigin / 1000;
const LAG_RESOLUTION_MS = 10;

export class ProcessFigures {
  private readonly lag: IntervalHistogram = monitorEventLoopDelay({resolution: LAG_RESOLUTION_MS});

  constructor() {
    this.lag.enable();
  }

  /** @returns those of the event loop's lag since the last read */
  read(): FigureValues {
    const {user, system} = process.cpuUsage();
    const {rss, heapTotal, heapUsed, external} = process.memoryUsage();
    const {lag} = this;
    const values = {
      nodejs_eventloop_lag_max_seconds: toSeconds(lag.max),
      nodejs_eventloop_lag_mean_seconds: toSeconds(lag.mean),
      nodejs_eventloop_lag_p50_seconds: toSeconds(lag.percentile(50)),
      nodejs_eventloop_lag_p99_seconds: toSeconds(lag.percentile(99)),
      nodejs_external_memory_bytes: external,
      nodejs_heap_size_total_bytes: heapTotal,
      nodejs_heap_size_used_bytes: heapUsed,
      process_cpu_seconds_total: (user + system) / 1e6,
      process_cpu_system_seconds_total: system / 1e6,
      process_cpu_user_seconds_total: user / 1e6,
      process_resident_memory_bytes: rss,
      process_start_time_seconds: START_SECONDS,
      ...readFiles(),
    };
    lag.reset();
    return values;
  }
}

/** @param ns - NaN, or the greatest number, where nothing was measured since the last read */
function toSeconds(ns: number): number | undefined {
  return ns >= 0 && ns < Number.MAX_SAFE_INTEGER ? ns / 1e9 : undefined;
}

/** Nothing where there is no /proc. */
function readFiles(): FigureValues {
  if (process.platform !== "linux") return {};
  const limit = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  return {
    process_max_fds: limit === undefined ? undefined : Number(limit),
    process_open_fds: readdirSync("/proc/self/fd").length,
  };
}
