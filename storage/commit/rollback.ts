/** Removes blocks, and pages that no block leads to. Only an operator may remove finalized blocks. */
import {encodeLayer1Record} from "../block/layer1Mark.ts";
import {encodeOpenResets, openUpTo} from "../block/openResets.ts";
import {encodeSlice, sliceUpTo} from "../block/sliceBlock.ts";
import type {StateReader} from "../block/stateReader.ts";
import {removeNote, writeNote} from "../directory/acknowledgedNote.ts";
import {StoreError} from "../errors.ts";
import {WORD_BYTES} from "../hash/suite.ts";
import {damaged, writeSynced} from "../leveldb/levelErrors.ts";
import {LogTail} from "../leveldb/logTail.ts";
import {
  blockKey,
  finalizationKey,
  hashKey,
  MAX_U48,
  META,
  OPEN_RESETS,
  pageKey,
  prunedKey,
  SLICE,
} from "../record/layout.ts";
import {encodeNumber} from "../record/recordBody.ts";
import {type Batch, put, type WriteTarget} from "./writeBatch.ts";

/** Pages removed in one batch: 1 MB of LevelDB's log. */
const KEYS_AT_ONCE = 50_000;
/** Blocks removed in one batch, two keys each. With pruned blocks between kept ones it can be more. */
const BLOCKS_AT_ONCE = 1024;

/**
 * Removes the blocks above `block` and their pages. Their page numbers are not reused while readers may have the old
 * pages cached.
 *
 * Many blocks are removed in several synced batches, newest first. Each batch is a complete rollback to a block that is
 * not pruned, so if the process is killed in between, the store ends with that block.
 *
 * @param evenFinalized - only if no other reader has the store open: readers cache finalized blocks for good
 * @throws StoreError FINALIZED if one of them is finalized, BLOCK_UNKNOWN if the store does not have `block`,
 *   BLOCK_PRUNED, WRITE_FAILED
 */
export async function rollBack(target: WriteTarget, block: number, evenFinalized = false): Promise<void> {
  const {reader} = target;
  const slice = reader.readRecord(SLICE);
  const latest = (await reader.latest()) ?? block;
  const last = slice === undefined ? block : await unmissed(reader, block);
  const isBegun = slice === undefined || last >= reader.firstBlock;
  // Every pruned block is finalized, so the check below refuses it.
  if (isBegun && (evenFinalized || reader.readPruned(last) === undefined)) reader.blockOrThrow(last);
  const finalized = Math.min(reader.readFinalized() ?? -1, latest);
  // Finalized blocks of a gap have nothing that readers cache.
  if (!evenFinalized && last < (slice === undefined ? finalized : await unmissed(reader, finalized)))
    throw refuseFinalized(finalized);
  if (slice !== undefined) await removeMissed(target);
  if (slice !== undefined && !isBegun) await beginAgain(target, latest, slice);
  else await removeAbove(target, last, latest, evenFinalized);
}

async function removeAbove(target: WriteTarget, block: number, latest: number, evenFinalized: boolean) {
  const {reader, db, directory} = target;
  const floor = encodeNumber(await reader.nextPage());
  // Synced before the blocks are removed: with a note that names a removed block, the store would seem to have lost it.
  acknowledge(directory, block, true);
  let head = latest;
  do {
    const to = Math.max(block, (await reader.unprunedBelow(Math.max(head - BLOCKS_AT_ONCE, 0) + 1)) ?? block);
    const batch = db.batch();
    put(batch, META.floor, floor);
    if (evenFinalized) unfinalize(reader, to, batch);
    removeBlocks(reader, head, to, batch);
    await writeSynced(batch);
    head = to;
    reader.noteNewest(head);
  } while (head > block);
  await reclaimPages(target);
  acknowledge(directory, block);
}

/** @returns the block, or the newest one below the gap of a store of slices that it is in */
async function unmissed(reader: StateReader, block: number): Promise<number> {
  const record = block < 0 ? undefined : reader.readPruned(block);
  if (record === undefined || !reader.isMissed(record)) return block;
  return (await reader.unprunedBelow(block)) ?? block;
}

function refuseFinalized(finalized: number): StoreError {
  return new StoreError(
    "FINALIZED",
    `blocks up to ${finalized} are finalized, and finalized blocks are not removed`,
  );
}

/** Removes all blocks of a store of slices, whose first block is on a branch that was left. */
async function beginAgain(target: WriteTarget, latest: number, slice: Buffer): Promise<void> {
  const {reader, db, directory} = target;
  const {firstBlock} = reader;
  const finalized = reader.readFinalized() ?? -1;
  if (finalized >= firstBlock) throw refuseFinalized(finalized);
  if (latest > firstBlock) await removeAbove(target, firstBlock, latest, false);
  const floor = encodeNumber(await reader.nextPage());
  removeNote(directory);
  const batch = db.batch();
  removeBlocks(reader, firstBlock, firstBlock - 1, batch);
  put(batch, META.floor, floor);
  put(batch, META.chain, Buffer.alloc(0));
  put(batch, META.earliest, encodeNumber(0));
  put(batch, SLICE, slice);
  await writeSynced(batch);
  await reclaimPages(target);
}

/** Removes the blocks of a slice's gap that has no block above it: a crash came before that. */
export async function removeMissed({reader, db}: WriteTarget): Promise<void> {
  const above = ((await reader.latest()) ?? -1) + 1;
  for (let from = await reader.prunedFrom(above); from !== undefined; from = await reader.prunedFrom(above)) {
    const batch = db.batch();
    for (let block = from; block < from + BLOCKS_AT_ONCE; block++) {
      const record = reader.readPruned(block);
      if (record === undefined) break;
      batch.del(hashKey(record.header.hash));
      batch.del(prunedKey(block));
    }
    await writeSynced(batch);
  }
}

function removeBlocks(reader: StateReader, head: number, to: number, batch: Batch): void {
  const unverified = reader.readUnverified();
  if (unverified < MAX_U48 && unverified > to) put(batch, META.unverified, encodeNumber(MAX_U48));
  const resets = reader.readOpenResets();
  if (resets !== undefined && resets.to > to) put(batch, OPEN_RESETS, encodeOpenResets(openUpTo(resets, to)));
  const slice = reader.readSlice();
  if (slice !== undefined) put(batch, SLICE, encodeSlice(sliceUpTo(slice, to)));
  for (let number = to + 1; number <= head; number++) {
    batch.del(hashKey(reader.headerRecordOrThrow(number).header.hash));
    batch.del(reader.readPruned(number) === undefined ? blockKey(number) : prunedKey(number));
  }
}

/** Layer 1 is then read again from the last remaining finalization on. */
function unfinalize(reader: StateReader, block: number, batch: Batch): void {
  if ((reader.readFinalized() ?? -1) > block) put(batch, META.finalized, encodeNumber(block));
  const {finalizations} = reader;
  const record = finalizations.readLayer1();
  if (record === undefined) return;
  let {count} = record;
  while (count > 0 && finalizations.read(count - 1).endBlock > block) batch.del(finalizationKey(--count));
  if (count === record.count) return;
  // No block of layer 1 has this hash.
  const mark = {...record.mark, blockHash: Buffer.alloc(WORD_BYTES)};
  put(batch, META.layer1, encodeLayer1Record({...record, mark, count, begun: Math.min(record.begun, count)}));
}

/** Removes pages that no block leads to. @throws StoreError STORE_DAMAGED, WRITE_FAILED */
export async function reclaimPages({reader, db}: WriteTarget): Promise<void> {
  const lte = pageKey(MAX_U48);
  let range: {gte: Buffer} | {gt: Buffer} = {gte: pageKey(await reader.pagesEnd())};
  for (;;) {
    let keys: Buffer[];
    try {
      keys = await db.keys({...range, lte, limit: KEYS_AT_ONCE}).all();
    } catch (error) {
      throw damaged("the pages", error);
    }
    const end = keys.at(-1);
    if (end === undefined) return;
    const batch = db.batch();
    for (const key of keys) batch.del(key);
    await writeSynced(batch);
    range = {gt: end};
  }
}

/** Notes that everything written so far is on disk. @param synced - as `replaced` of writeNote */
export function acknowledge(directory: string, latest: number, synced = false): void {
  const tail = new LogTail(directory);
  tail.advance();
  writeNote(directory, {block: latest, log: tail.number, bytes: tail.bytes}, synced);
}
