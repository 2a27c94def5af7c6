/**
 * What the newest blocks changed, for a feed. The service that publishes keeps it with each block, in the same write: a crash between a block
 * and its messages loses nothing.
 *
 *   'd' | place u48    block hash 32 | changes, in a form of their own (nodes/feed/blockChanges.ts)
 *
 * A block's place is its number modulo KEPT_BLOCKS. A later block takes it, also one of another branch, so nothing is ever removed.
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

/** @returns undefined: another block has taken the place */
export function changesOfKept(body: Buffer, hash: Uint8Array): Buffer | undefined {
  return Buffer.compare(body.subarray(0, WORD_BYTES), hash) === 0 ? body.subarray(WORD_BYTES) : undefined;
}
