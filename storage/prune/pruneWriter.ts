/**
 * The writes of pruning, each a small step: block records first, then pages, then the record of the run.
 *
 *   retire ... until all blocks of the run are pruned -> remove ... until all their pages are -> end
 *
 * Every step is one synced batch, like every write here: LevelDB does not sync a log when it starts the next one, so a
 * power cut could tear an unsynced batch in the middle of the logs.
 */

import {type Batch, put, type WriteTarget} from "../commit/writeBatch.ts";
import {StoreError} from "../errors.ts";
import {writeSynced} from "../leveldb/levelErrors.ts";
import {blockKey, META, pageKey, prunedKey} from "../record/layout.ts";
import {encodeNumber} from "../record/recordBody.ts";
import {encodeRun, type PruneRun} from "./pruneRecord.ts";

/** Block records in one step: 60 KB, some 2 ms. */
export const STEP_BLOCKS = 128;
/** Page numbers in one step: 10 KB of LevelDB's log, some 2 ms. */
export const STEP_PAGES = 1024;

/** One small write. Structured-cloneable: the import thread may have to do it. */
export type PruneStep =
  /** Prunes blocks `from` to `until - 1` of the run. From then on their trees cannot be entered. */
  | {readonly kind: "retire"; readonly run: PruneRun; readonly from: number; readonly until: number}
  /** Removes pages, in the order in which `unreachedPages` gives them. */
  | {readonly kind: "remove"; readonly pages: Float64Array}
  | {readonly kind: "end"};

/** @throws StoreError FINALIZED, RECORD_DAMAGED, WRITE_FAILED */
export async function performStep(target: WriteTarget, step: PruneStep): Promise<void> {
  const batch = target.db.batch();
  if (step.kind === "retire") await retireBlocks(target, step, batch);
  else if (step.kind === "remove") for (const page of step.pages) batch.del(pageKey(page));
  else put(batch, META.pruning, Buffer.alloc(0));
  await writeSynced(batch);
}

async function retireBlocks(
  target: WriteTarget,
  {run, from, until}: Extract<PruneStep, {kind: "retire"}>,
  batch: Batch,
): Promise<void> {
  const {reader} = target;
  await refuseUnfinished(target, run);
  put(batch, META.pruning, encodeRun(run));
  for (let block = from; block < until; block++) {
    const body = reader.readRecord(blockKey(block));
    // Blocks between two kept ones were pruned before.
    if (body === undefined) continue;
    put(batch, prunedKey(block), body);
    batch.del(blockKey(block));
  }
  if (reader.readEarliest() < from) return;
  const earliest = reader.readBlock(until) === undefined ? await reader.unprunedFrom(until) : until;
  put(batch, META.earliest, encodeNumber(earliest ?? run.next));
}

/** Only finalized blocks below a finalized one are pruned, so no rollback ever needs their trees. */
async function refuseUnfinished({reader}: WriteTarget, {first, next}: PruneRun): Promise<void> {
  const finalized = Math.min(reader.readFinalized() ?? -1, (await reader.latest()) ?? -1);
  if (next > finalized || first >= next)
    throw new StoreError(
      "FINALIZED",
      `blocks ${first} to ${next - 1} cannot be pruned: blocks up to ${finalized} are finalized, and the newest of them is kept`,
    );
}
