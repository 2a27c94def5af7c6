/**
 * Measures the tasks of a stage with tinybench, one after the other.
 */
import {Bench} from "tinybench";
import {Yardstick} from "../program/yardstick.ts";
import type {Result} from "./benchRun.ts";
import type {Stage} from "./stage.ts";

/** Least runs of a task for one that warms it up. */
const RUNS_PER_WARM_UP = 4;
/** A look takes about a hundredth of the time between two looks. */
const HASHES_PER_LOOK = 50;
const LOOK_EVERY_MS = 5;

/** @param leastRuns - of each task, even if they take longer than `timeMs` */
export async function* measureStage(
  stage: Stage,
  names: {readonly suite: string; readonly stage: string},
  {timeMs, leastRuns}: {readonly timeMs: number; readonly leastRuns: number},
): AsyncGenerator<Result, undefined> {
  for (const {name, units, run, hooks} of stage.tasks) {
    const bench = new Bench({
      time: timeMs,
      iterations: leastRuns,
      warmupTime: timeMs / 4,
      warmupIterations: Math.ceil(leastRuns / RUNS_PER_WARM_UP),
      throws: true,
    });
    const yardstick = new Yardstick(HASHES_PER_LOOK, LOOK_EVERY_MS);
    const beforeEach = async (): Promise<void> => {
      await hooks?.beforeEach?.();
      yardstick.lookIfDue();
    };
    const [task] = await bench.add(name, run, {...hooks, beforeEach}).run();
    if (task === undefined || !("latency" in task.result)) throw new Error(`${name}: not measured`);
    const {p50, p99, rme} = task.result.latency;
    const medianUs = (p50 * 1000) / units;
    yield {
      ...names,
      name,
      medianUs,
      p99Us: (p99 * 1000) / units,
      errorPercent: rme,
      perSecond: 1e6 / medianUs,
      yardsticks: medianUs / yardstick.medianUs,
    };
  }
}
