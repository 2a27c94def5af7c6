/** Makes the missing stores, measures the stages on each store, prints a table and writes JSON. */
import {mkdirSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {BENCH_FOLDER, type Origin, readOrigin, writeOrigin} from "../program/runFile.ts";
import {type BenchRun, type Figure, type Result, RUN_FORMAT} from "./benchRun.ts";
import {openBenchStore} from "./benchStore.ts";
import {measureTask} from "./measure.ts";
import {writeReport} from "./report.ts";
import type {CreateStage} from "./stage.ts";

/** Commander's values, by flag. */
interface StageFlags {
  readonly accounts: number;
  readonly blocks: number;
  /** Milliseconds per task. */
  readonly time: number;
  /** Least runs of a task. */
  readonly runs: number;
  /** Names of stages. */
  readonly only: readonly string[];
  /** Names of hash suites. */
  readonly suite: readonly string[];
  /** Default: a new file under bench-data/runs/. */
  readonly json: string | undefined;
  readonly against: string | undefined;
}

/** @param stages - by name. @param before - the run to compare with */
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

function machineText(machine: Origin): string {
  return `${writeOrigin(machine)}; ${machine.date}\n`;
}
