/** Measures the stages on the store of each suite, prints a table and writes JSON. */
import {mkdirSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {Bench} from "tinybench";
import {BENCH_FOLDER, type Origin, readOrigin, writeOrigin} from "../program/runFile.ts";
import {Yardstick} from "../program/yardstick.ts";
import {type BenchRun, type Figure, type Result, RUN_FORMAT} from "./benchRun.ts";
import {openBenchStore} from "./benchStore.ts";
import {writeReport} from "./report.ts";
import type {BenchTask, CreateStage} from "./stage.ts";

/** One warm-up run for this many measured ones. */
const RUNS_PER_WARM_UP = 4;
/** Sampling the yardstick takes about 1 % of the time. */
const HASHES_PER_SAMPLE = 50;
const SAMPLE_EVERY_MS = 5;

interface StageFlags {
  readonly accounts: number;
  readonly blocks: number;
  /** Milliseconds per task. */
  readonly time: number;
  readonly runs: number;
  readonly suite: readonly string[];
  /** Default: a new file under bench-data/runs/. */
  readonly json: string | undefined;
  readonly against: string | undefined;
}

export async function measureStages(
  flags: StageFlags,
  stages: ReadonlyMap<string, () => Promise<CreateStage>>,
  before: BenchRun | undefined,
): Promise<void> {
  const {accounts, blocks, suite: suites, against} = flags;
  const machine = readOrigin();
  const path =
    flags.json ?? join(BENCH_FOLDER, "runs", `stages-${machine.date.replaceAll(/[:.]/g, "-")}.json`);
  mkdirSync(dirname(path), {recursive: true});
  process.stdout.write(machineText(machine));
  if (before !== undefined) process.stdout.write(`against ${against}: ${machineText(before.machine)}`);
  const results: Result[] = [];
  const figures: Figure[] = [];
  for (const suite of suites) {
    const benchStore = await openBenchStore(suite, accounts, blocks);
    const rows: (Result | Figure)[] = [];
    for (const [stage, load] of stages) {
      process.stderr.write(`${suite}: ${stage} ...\n`);
      const {tasks, figures: figuresOf} = await (await load())(benchStore);
      const measured: Result[] = [];
      for (const task of tasks) measured.push({suite, stage, ...(await measureTask(task, flags))});
      const made = (figuresOf?.() ?? []).map(figure => ({suite, stage, ...figure}));
      rows.push(...measured, ...made);
      results.push(...measured);
      figures.push(...made);
    }
    await benchStore.store.close();
    process.stdout.write(`suite ${suite}, store ${benchStore.directory}\n\n${writeReport(rows, before)}`);
  }
  const run: BenchRun = {format: RUN_FORMAT, machine, accounts, blocks, results, figures};
  writeFileSync(path, `${JSON.stringify(run, null, 2)}\n`);
  process.stdout.write(`\nwritten to ${path}\n`);
}

async function measureTask(
  {name, units, run, hooks}: BenchTask,
  {time, runs}: StageFlags,
): Promise<Omit<Result, "suite" | "stage">> {
  const bench = new Bench({
    time,
    iterations: runs,
    warmupTime: time / 4,
    warmupIterations: Math.ceil(runs / RUNS_PER_WARM_UP),
    throws: true,
  });
  const yardstick = new Yardstick(HASHES_PER_SAMPLE, SAMPLE_EVERY_MS);
  const beforeEach = async (): Promise<void> => {
    await hooks?.beforeEach?.();
    yardstick.sampleIfDue();
  };
  const [task] = await bench.add(name, run, {...hooks, beforeEach}).run();
  if (task === undefined || !("latency" in task.result)) throw new Error(`${name}: not measured`);
  const {p50, p99, rme: errorPercent} = task.result.latency;
  const medianUs = (p50 * 1000) / units;
  const p99Us = (p99 * 1000) / units;
  const yardsticks = medianUs / yardstick.medianUs;
  return {name, medianUs, p99Us, errorPercent, perSecond: 1e6 / medianUs, yardsticks};
}

function machineText(machine: Origin): string {
  return `${writeOrigin(machine)}; ${machine.date}\n`;
}
