/** Prunes an open store without threads, step by step, and may give up in the middle as a killed process does. */
import {PrunedBlocks} from "../../../storage/prune/prunedBlocks.ts";
import {type PruneRun, readRun} from "../../../storage/prune/pruneRecord.ts";
import {performStep, STEP_BLOCKS} from "../../../storage/prune/pruneWriter.ts";
import type {Retention} from "../../../storage/prune/retention.ts";
import {unreachedPages} from "../../../storage/prune/unreachedPages.ts";
import type {StateStore} from "../../../storage/stateStore.ts";

interface StepChoice {
  /** Blocks in a step of records, at least 1. */
  readonly blocks?: number;
  /** Pages in a step, at least 1. */
  readonly pages: number;
  /** Asked before each write. false: the pruning ends there. */
  readonly goesOn: () => boolean;
}

/** @returns whether all was pruned that `retention` does not keep */
export async function pruneStore(
  store: StateStore,
  retention: Retention,
  choice: StepChoice,
): Promise<boolean> {
  const {reader} = store;
  for (let open = readRun(reader); ; open = undefined) {
    const pruned = await PrunedBlocks.read(reader);
    const finalized = Math.min(reader.readFinalized() ?? -1, (await reader.latest()) ?? -1);
    const run = open ?? retention.nextRun(pruned, finalized);
    if (run === undefined) return true;
    if (!(await pruneRun(store, run, choice))) return false;
  }
}

async function pruneRun(store: StateStore, run: PruneRun, choice: StepChoice): Promise<boolean> {
  const {blocks = STEP_BLOCKS, pages: atOnce, goesOn} = choice;
  for (let from = run.first; from < run.next; from += blocks) {
    if (!goesOn()) return false;
    await performStep(store, {kind: "retire", run, from, until: Math.min(from + blocks, run.next)});
  }
  let pages: number[] = [];
  for (const page of await unreachedPages(store.reader, run)) {
    if (page !== undefined) pages.push(page);
    if (pages.length < atOnce) continue;
    if (!goesOn()) return false;
    await performStep(store, {kind: "remove", pages: Float64Array.from(pages)});
    pages = [];
  }
  if (!goesOn()) return false;
  await performStep(store, {kind: "remove", pages: Float64Array.from(pages)});
  if (!goesOn()) return false;
  await performStep(store, {kind: "end"});
  return true;
}
