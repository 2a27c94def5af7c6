/** Makes the missing stores, measures the stages on each store, prints a table and writes JSON. */
import {writeFileSync} from "node:fs";
import {join} from "node:path";
import {prepareFile} from "../program/benchProgram.ts";
import {readOrigin} from "../program/machine.ts";
import {RUNS_FOLDER} from "../program/runFile.ts";
import {type BenchRun, type Figure, type Result, RUN_FORMAT} from "./benchRun.ts";
import {openBenchStore} from "./benchStore.ts";
import {measureStage} from "./measure.ts";
import {STAGE_NAMES, type StageFlags, type StageName} from "./options.ts";
import {machineText, RunReport} from "./report.ts";
import type {CreateStage} from "./stage.ts";

/** A stage is loaded when it runs. Loading all of them takes a second. */
const STAGES: Readonly<Record<StageName, () => Promise<CreateStage>>> = {
  hash: async () => (await import("./hash.bench.ts")).createHashStage,
  proof: async () => (await import("./proof.bench.ts")).createProofStage,
  multiproof: async () => (await import("./multiproof.bench.ts")).createMultiproofStage,
  leaves: async () => (await import("./leaves.bench.ts")).createLeavesStage,
  changes: async () => (await import("./changes.bench.ts")).createChangesStage,
  verify: async () => (await import("./verify.bench.ts")).createVerifyStage,
  estimate: async () => (await import("./estimate.bench.ts")).createEstimateStage,
  evm: async () => (await import("./evm.bench.ts")).createEvmStage,
  execute: async () => (await import("./execute.bench.ts")).createExecuteStage,
  commit: async () => (await import("./commit.bench.ts")).createCommitStage,
};

/** @param before - the run to compare with */
export async function measureStages(flags: StageFlags, before: BenchRun | undefined): Promise<void> {
  const {accounts, blocks, time: timeMs, runs: leastRuns, only, suite: suites, against} = flags;
  const machine = readOrigin();
  const path =
    flags.json ??
    join(RUNS_FOLDER, `${machine.date.replaceAll(":", "")}-${machine.commit.split(" ")[0]}.json`);
  prepareFile("json", path);
  process.stdout.write(machineText(machine));
  if (before !== undefined) process.stdout.write(`against ${against}: ${machineText(before.machine)}`);
  const report = new RunReport(before);
  const results: Result[] = [];
  const figures: Figure[] = [];
  for (const suite of suites) {
    const benchStore = await openBenchStore(suite, accounts, blocks);
    process.stdout.write(`suite ${suite}, store ${benchStore.directory}\n\n`);
    process.stdout.write(report.writeHeading());
    for (const name of STAGE_NAMES.filter(name => only.includes(name))) {
      const stage = await (await STAGES[name]())(benchStore);
      const measured: Result[] = [];
      for await (const result of measureStage(stage, {suite, stage: name}, {timeMs, leastRuns})) {
        measured.push(result);
        process.stdout.write(report.writeResult(result));
      }
      results.push(...measured);
      for (const made of stage.figures?.(measured) ?? []) {
        const figure = {suite, stage: name, ...made};
        figures.push(figure);
        process.stdout.write(report.writeFigure(figure));
      }
      await stage.close?.();
    }
    await benchStore.store.close();
  }
  const run: BenchRun = {format: RUN_FORMAT, machine, accounts, blocks, results, figures};
  writeFileSync(path, `${JSON.stringify(run, null, 2)}\n`);
  process.stdout.write(`\nwritten to ${path}\n`);
}
