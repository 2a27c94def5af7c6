/** Makes the missing stores, measures the stages on each store, prints a table and writes JSON. */
import {writeFileSync} from "node:fs";
import {join} from "node:path";
import {describeMachine} from "../load/report/machine.ts";
import {prepareFile} from "../program/benchProgram.ts";
import {RUNS_FOLDER} from "../program/runFile.ts";
import {type BenchRun, type Figure, type Result, RUN_FORMAT} from "./benchRun.ts";
import {openBenchStore, type StoreFigures} from "./benchStore.ts";
import {compareRuns} from "./comparison.ts";
import {measureStage} from "./measure.ts";
import {FOLLOW, type StageFlags, type StageName} from "./options.ts";
import {comparisonText, figureRow, machineText, RESULT_HEADING, resultRow, storeText} from "./report.ts";
import type {CreateStage} from "./stage.ts";

/** A stage is loaded when it runs. Loading all of them takes a second. */
const STAGES: Readonly<Record<StageName, () => Promise<CreateStage>>> = {
  hash: async () => (await import("./hash.bench.ts")).createHashStage,
  page: async () => (await import("./page.bench.ts")).createPageStage,
  lookup: async () => (await import("./lookup.bench.ts")).createLookupStage,
  path: async () => (await import("./path.bench.ts")).createPathStage,
  text: async () => (await import("./text.bench.ts")).createTextStage,
  proof: async () => (await import("./proof.bench.ts")).createProofStage,
  multiproof: async () => (await import("./multiproof.bench.ts")).createMultiproofStage,
  verify: async () => (await import("./verify.bench.ts")).createVerifyStage,
  worker: async () => (await import("./worker.bench.ts")).createWorkerStage,
  estimate: async () => (await import("./estimate.bench.ts")).createEstimateStage,
  commit: async () => (await import("./commit.bench.ts")).createCommitStage,
};

/** @param before - the run to compare with */
export async function measureStages(flags: StageFlags, before: BenchRun | undefined): Promise<void> {
  const {accounts, blocks, time: timeMs, runs: leastRuns, only, suite: suites, against} = flags;
  const machine = describeMachine();
  const path = flags.json ?? join(RUNS_FOLDER, `${machine.date.replaceAll(":", "")}-${machine.commit}.json`);
  prepareFile("json", path);
  process.stdout.write(machineText(machine));
  const stores: Record<string, StoreFigures> = {};
  const results: Result[] = [];
  const figures: Figure[] = [];
  for (const suite of suites) {
    const addFigure = (name: string, figure: Omit<Figure, "suite" | "stage">): void => {
      figures.push({suite, stage: name, ...figure});
      process.stdout.write(figureRow({suite, stage: name, ...figure}));
    };
    if (only.includes(FOLLOW)) {
      const {measureFollowing} = await import("./follow.bench.ts");
      for await (const part of measureFollowing(suite, blocks)) {
        figures.push(...part.figures.map(figure => ({suite, stage: FOLLOW, ...figure})));
        process.stdout.write(part.text);
      }
    }
    const names = only.filter(name => name !== FOLLOW);
    if (names.length === 0) continue;
    const benchStore = await openBenchStore(suite, accounts, blocks);
    stores[suite] = benchStore.made;
    process.stdout.write(`${storeText(suite, benchStore.directory, benchStore.made)}\n${RESULT_HEADING}`);
    for (const name of names) {
      const stage = await (await STAGES[name]())(benchStore);
      const measured: Result[] = [];
      for await (const result of measureStage(stage, {suite, stage: name}, {timeMs, leastRuns})) {
        measured.push(result);
        process.stdout.write(resultRow(result));
      }
      results.push(...measured);
      for (const figure of stage.figures?.(measured) ?? []) addFigure(name, figure);
      await stage.close?.();
    }
    await benchStore.store.close();
  }
  const run: BenchRun = {format: RUN_FORMAT, machine, accounts, blocks, timeMs, stores, results, figures};
  writeFileSync(path, `${JSON.stringify(run, null, 2)}\n`);
  process.stdout.write(`\nwritten to ${path}\n`);
  if (before !== undefined)
    process.stdout.write(`\nagainst ${against}:\n${comparisonText(compareRuns(before, run))}`);
}
