/**
 * Measures the tasks of a stage with tinybench, one after the other.
 */
import {Bench} from "tinybench";
import {Yardstick} from "../program/yardstick.ts";
import type {Result} from "./benchRun.ts";
import type {Stage} from "./stage.ts";

/** Slow tasks get this many runs, even if that takes longer than the time per task. */
const LEAST_RUNS = 16;
const LEAST_WARMUP_RUNS = 4;
/** A look takes about a hundredth of the time between two looks. */
const HASHES_PER_LOOK = 50;
const LOOK_EVERY_MS = 5;

export async function* measureStage(
  stage: Stage,
  names: {readonly suite: string; readonly stage: string},
  timeMs: number,
): AsyncGenerator<Result, undefined> {
  for (const {name, units, run, hooks} of stage.tasks) {
    const bench = new Bench({
      time: timeMs,
      iterations: LEAST_RUNS,
      warmupTime: timeMs / 4,
      warmupIterations: LEAST_WARMUP_RUNS,
      throws: true,
    });
    const yardstick = new Yardstick(HASHES_PER_LOOK, LOOK_EVERY_MS);
    const beforeEach = async (): Promise<void> => {
      await hooks?.beforeEach?.();
      yardstick.lookIfDue();
    };
    const [task] = await bench.add(name, run, {...hooks, beforeEach}).run();
    if (task === undefined || !("latency" in task.result)) throw new Error(`${name}: not measured`);
    const {p50, p99, rme, samplesCount} = task.result.latency;
    const medianUs = (p50 * 1000) / units;
    const yardstickUs = yardstick.medianUs;
    yield {
      ...names,
      name,
      units,
      samples: samplesCount,
      medianUs,
      p99Us: (p99 * 1000) / units,
      errorPercent: rme,
      perSecond: 1e6 / medianUs,
      yardstickUs,
      yardsticks: medianUs / yardstickUs,
    };
  }
}
