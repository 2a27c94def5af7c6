/**
 * `npm run bench`: makes the missing stores, measures every stage on each store, prints a table and writes JSON.
 */

import {writeFileSync} from "node:fs";
import {join} from "node:path";
import {describeMachine} from "../load/report/machine.ts";
import {prepareFile, runProgram} from "../program/benchProgram.ts";
import {RUNS_FOLDER} from "../program/runFile.ts";
import {type BenchRun, type Figure, type Result, RUN_FORMAT, readRun} from "./benchRun.ts";
import {openBenchStore, type StoreFigures} from "./benchStore.ts";
import {createCommitStage} from "./commit.bench.ts";
import {compareRuns} from "./comparison.ts";
import {createEstimateStage} from "./estimate.bench.ts";
import {measureFollowing} from "./follow.bench.ts";
import {createHashStage} from "./hash.bench.ts";
import {createLookupStage} from "./lookup.bench.ts";
import {measureStage} from "./measure.ts";
import {createMultiproofStage} from "./multiproof.bench.ts";
import {createStagesProgram, type StageFlags} from "./options.ts";
import {createPageStage} from "./page.bench.ts";
import {createPathStage} from "./path.bench.ts";
import {createProofStage} from "./proof.bench.ts";
import {comparisonText, figureRow, machineText, RESULT_HEADING, resultRow, storeText} from "./report.ts";
import type {CreateStage} from "./stage.ts";
import {createTextStage} from "./text.bench.ts";
import {createVerifyStage} from "./verify.bench.ts";
import {createWorkerStage} from "./worker.bench.ts";

const STAGES: Readonly<Record<string, CreateStage>> = {
  hash: createHashStage,
  page: createPageStage,
  lookup: createLookupStage,
  path: createPathStage,
  text: createTextStage,
  proof: createProofStage,
  multiproof: createMultiproofStage,
  verify: createVerifyStage,
  worker: createWorkerStage,
  estimate: createEstimateStage,
  commit: createCommitStage,
};
/** It measures whole processes and makes its own stores, so it runs only if it is asked for. */
const FOLLOW = "follow";
await runProgram<StageFlags>(createStagesProgram(Object.keys(STAGES), [FOLLOW]), measureStages);

async function measureStages(flags: StageFlags): Promise<void> {
  const {accounts, blocks, time: timeMs, only, suite: suites, against} = flags;
  // Read before minutes are spent on measuring.
  const before = against === undefined ? undefined : readRun(against);
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
    if (only.includes(FOLLOW))
      for await (const part of measureFollowing(suite, blocks)) {
        figures.push(...part.figures.map(figure => ({suite, stage: FOLLOW, ...figure})));
        process.stdout.write(part.text);
      }
    const names = only.filter(name => name !== FOLLOW);
    if (names.length === 0) continue;
    const benchStore = await openBenchStore(suite, accounts, blocks);
    stores[suite] = benchStore.made;
    process.stdout.write(`${storeText(suite, benchStore.directory, benchStore.made)}\n${RESULT_HEADING}`);
    for (const name of names) {
      const stage = await (STAGES[name] as CreateStage)(benchStore);
      const measured: Result[] = [];
      for await (const result of measureStage(stage, {suite, stage: name}, timeMs)) {
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
