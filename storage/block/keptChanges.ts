/**
 * The changes of the newest blocks, for a feed. They are stored in the same write as the block, so a crash between the
 * block and its messages loses nothing.
 *
 *   'd' | place u48    block hash 32 | changes, encoded (nodes/feed/blockChanges.ts)
 *
 * A ring buffer: a block's place is its number modulo KEPT_BLOCKS, and a later block overwrites it.
 */
import {WORD_BYTES} from "../hash/suite.ts";
import {changesKey} from "../record/layout.ts";

/** 60 to 150 MB of blocks of 350 leaf writes. */
export const KEPT_BLOCKS = 10_000;

export function placeOfChanges(block: number): Buffer {
  return changesKey(block % KEPT_BLOCKS);
}

export function encodeKept(hash: Uint8Array, changes: Uint8Array): Buffer {
  return Buffer.concat([hash, changes]);
}

/** @returns undefined: another block has overwritten the place */
export function changesOfKept(body: Buffer, hash: Uint8Array): Buffer | undefined {
  return Buffer.compare(body.subarray(0, WORD_BYTES), hash) === 0 ? body.subarray(WORD_BYTES) : undefined;
}
