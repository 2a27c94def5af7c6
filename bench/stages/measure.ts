/** Measures a task of a stage with tinybench. */
import {Bench} from "tinybench";
import {Yardstick} from "../program/yardstick.ts";
import type {Result} from "./benchRun.ts";
import type {BenchTask} from "./stage.ts";

/** Least runs of a task for one that warms it up. */
const RUNS_PER_WARM_UP = 4;
/** A look takes about a hundredth of the time between two looks. */
const HASHES_PER_LOOK = 50;
const LOOK_EVERY_MS = 5;

/** @param time - in milliseconds. @param runs - at least so many, even if they take longer */
export async function measureTask(
  {name, units, run, hooks}: BenchTask,
  {time, runs}: {readonly time: number; readonly runs: number},
): Promise<Omit<Result, "suite" | "stage">> {
  const bench = new Bench({
    time,
    iterations: runs,
    warmupTime: time / 4,
    warmupIterations: Math.ceil(runs / RUNS_PER_WARM_UP),
    throws: true,
  });
  const yardstick = new Yardstick(HASHES_PER_LOOK, LOOK_EVERY_MS);
  const beforeEach = async (): Promise<void> => {
    await hooks?.beforeEach?.();
    yardstick.lookIfDue();
  };
  const [task] = await bench.add(name, run, {...hooks, beforeEach}).run();
  if (task === undefined || !("latency" in task.result)) throw new Error(`${name}: not measured`);
  const {p50, p99, rme: errorPercent} = task.result.latency;
  const medianUs = (p50 * 1000) / units;
  const p99Us = (p99 * 1000) / units;
  const yardsticks = medianUs / yardstick.medianUs;
  return {name, medianUs, p99Us, errorPercent, perSecond: 1e6 / medianUs, yardsticks};
}
