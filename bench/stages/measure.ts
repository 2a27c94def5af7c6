/**
 * Measures the tasks of a stage, one after the other, with tinybench.
 */
import {Bench} from "tinybench";
import type {Result} from "./benchRun.ts";
import type {Stage} from "./stage.ts";
import {Yardstick} from "./yardstick.ts";

/** Tasks that take long get these many runs, whatever the time. */
const LEAST_RUNS = 16;
const LEAST_WARMUP_RUNS = 4;

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
    const yardstick = new Yardstick();
    const beforeEach = async (): Promise<void> => {
      await hooks?.beforeEach?.();
      yardstick.lookIfDue();
    };
    const [task] = await bench.add(name, run, {...hooks, beforeEach}).run();
    if (task === undefined || !("latency" in task.result)) throw new Error(`${name}: not measured`);
    const {p50, p99, rme, samplesCount} = task.result.latency;
    const medianUs = (p50 * 1000) / units;
    const yardstickUs = yardstick.median();
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
