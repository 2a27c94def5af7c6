/** The figures of the process, under the names that Prometheus has for them and that dashboards for Node expect. */
import {readdirSync, readFileSync} from "node:fs";
import {type IntervalHistogram, monitorEventLoopDelay} from "node:perf_hooks";
import type {FigureValues} from "./figures.ts";

const START_SECONDS = performance.timeOrigin / 1000;
const LAG_RESOLUTION_MS = 10;
const MAX_FILES = readMaxFiles();

export class ProcessFigures {
  private readonly lag: IntervalHistogram = monitorEventLoopDelay({resolution: LAG_RESOLUTION_MS});

  constructor() {
    this.lag.enable();
  }

  /** @returns those of the event loop's lag since the last read */
  read(): FigureValues {
    const {user, system} = process.cpuUsage();
    const memory = tryToRead(() => process.memoryUsage());
    const {lag} = this;
    const values = {
      nodejs_eventloop_lag_max_seconds: toSeconds(lag.max),
      nodejs_eventloop_lag_mean_seconds: toSeconds(lag.mean),
      nodejs_eventloop_lag_p50_seconds: toSeconds(lag.percentile(50)),
      nodejs_eventloop_lag_p99_seconds: toSeconds(lag.percentile(99)),
      nodejs_external_memory_bytes: memory?.external,
      nodejs_heap_size_total_bytes: memory?.heapTotal,
      nodejs_heap_size_used_bytes: memory?.heapUsed,
      process_cpu_seconds_total: (user + system) / 1e6,
      process_cpu_system_seconds_total: system / 1e6,
      process_cpu_user_seconds_total: user / 1e6,
      process_max_fds: MAX_FILES,
      process_open_fds: tryToRead(() => readdirSync("/proc/self/fd").length) ?? MAX_FILES,
      process_resident_memory_bytes: memory?.rss,
      process_start_time_seconds: START_SECONDS,
    };
    lag.reset();
    return values;
  }
}

/** @param ns - NaN, or the greatest number, where nothing was measured since the last read */
function toSeconds(ns: number): number | undefined {
  return ns >= 0 && ns < Number.MAX_SAFE_INTEGER ? ns / 1e9 : undefined;
}

/** @returns undefined where there is no /proc */
function readMaxFiles(): number | undefined {
  const text = tryToRead(() => readFileSync("/proc/self/limits", "utf8")) ?? "";
  const limit = /^Max open files +(\d+)/m.exec(text)?.[1];
  return limit === undefined ? undefined : Number(limit);
}

/** Without a free descriptor nothing can be read of /proc, and /metrics must tell of the rest. */
function tryToRead<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
