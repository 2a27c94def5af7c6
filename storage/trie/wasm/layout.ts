/**
 * Where things are in the module's memory.
 *
 *   static data | frames | entries | their order, two times | an older page, and a difference to it (difference.ts)
 *   the node that is encoded | page frames, as deep as they are needed
 *
 *   frame        16 references of 40                                               what a branch is made of, by its depth
 *   entry        path 32 | its nibbles u32 | bytes of the value u32 | value        0 bytes: the path is removed. UNMADE: it is still to be made
 *   page frame   a page as it was | as it becomes | 8 entries | two nodes as pages    by depth
 *   node         a page made of a node | its RLP                                    nodes.ts
 */

export {copyWord, sameWord} from "../../hash/wasm/parts/word";

/** Takes the path to find. */
export const PATH: usize = memory.data(32, 16);
/** The root that an update or a list gives. */
export const RESULT: usize = memory.data(32, 16);
/** Takes the root of a trie whose page is not known. */
export const ROOT: usize = memory.data(32, 16);

/** Nibbles of a path in a trie of accounts or slots. */
export const PATH_NIBBLES: i32 = 64;
/** An account has 110 bytes, a slot 33. */
export const MAX_VALUE_BYTES: u32 = 144;

export const REFERENCE_BYTES: usize = 40;
export const ENTRY_NIBBLES: usize = 32;
export const ENTRY_VALUE_BYTES: usize = 36;
export const ENTRY_VALUE: usize = 40;
export const ENTRY_BYTES: usize = 192;
/** In place of the bytes of a value that host.make is asked for. */
export const UNMADE: u32 = 0xff;

const FRAME_BYTES: usize = 640;
const FRAMES: usize = 0x2000;

export const MAX_ENTRIES: u32 = 4096;
export const ENTRIES: usize = 0x11000;
/** Pointers to entries. */
export const ORDER: usize = 0xd2000;
export const SPARE_ORDER: usize = 0xd7000;

/** The node that is encoded. */
export const NODE: usize = 0xe0000;
/** A list has its entries where an update has pages. */
export const LIST: usize = 0xe1000;
export const MAX_LIST_BYTES: usize = 0x1000000;

/** Of a page: 16 children with 4 leaves each. */
export const MAX_PAGE_BYTES: u32 = 0x3000;
const PAGE_FRAMES: usize = 0xe1000;
/** A branch with 16 hashes has 532 bytes; an account's leaf has 150. */
export const MAX_NODE_BYTES: u32 = 0x280;
/** A page of a node has 16 hashes, or leaves that are shorter than one: each takes 80 bytes at most. */
const NODE_PAGE_BYTES: usize = 0x600;
const NODE_FRAME_BYTES: usize = NODE_PAGE_BYTES + MAX_NODE_BYTES;
const PAGE_FRAME_BYTES: usize = 2 * MAX_PAGE_BYTES + 8 * ENTRY_BYTES + 2 * NODE_FRAME_BYTES;

const PAGE_BITS: usize = 16;
const PAGES_AT_ONCE: i32 = 32;

/** Makes the memory at least as long. */
export function growTo(end: usize): void {
  const missing = <i32>((end >> PAGE_BITS) + 1) - memory.size();
  if (missing > 0) memory.grow(max(missing, PAGES_AT_ONCE));
}

export function frame(depth: i32): usize {
  return FRAMES + <usize>depth * FRAME_BYTES;
}

/** Where the page at a depth is read to. */
export function inputOf(depth: i32): usize {
  const at = PAGE_FRAMES + <usize>depth * PAGE_FRAME_BYTES;
  growTo(at + PAGE_FRAME_BYTES);
  return at;
}

/** Where the page at a depth is written. */
export function outputOf(depth: i32): usize {
  return inputOf(depth) + MAX_PAGE_BYTES;
}

/** One of 8 entries. */
export function scratchOf(depth: i32, index: u32): usize {
  return inputOf(depth) + 2 * MAX_PAGE_BYTES + index * ENTRY_BYTES;
}

/** One of two places for a page that is made of a node; its RLP comes first to `rlpOf`. */
export function nodeOf(depth: i32, index: u32): usize {
  return inputOf(depth) + 2 * MAX_PAGE_BYTES + 8 * ENTRY_BYTES + index * NODE_FRAME_BYTES;
}

export function rlpOf(node: usize): usize {
  return node + NODE_PAGE_BYTES;
}

/** The nibble at a position of packed bytes. */
export function nibble(path: usize, position: i32): i32 {
  return (load<u8>(path + (position >> 1)) >> ((~position & 1) << 2)) & 15;
}

export function setNibble(path: usize, position: i32, value: i32): void {
  const at = path + (position >> 1);
  const shift = (~position & 1) << 2;
  const kept = <i32>load<u8>(at) & (0xf0 >> shift);
  store<u8>(at, kept | (value << shift));
}

/** @returns the first position from `from` on where two paths differ, at most `to` */
export function firstDifference(a: usize, b: usize, from: i32, to: i32): i32 {
  while (from < to && nibble(a, from) === nibble(b, from)) from++;
  return from;
}

/** @returns how many bytes from the first one on are the same */
export function sameBytes(a: usize, b: usize, bytes: usize): usize {
  let i: usize = 0;
  while (i + 8 <= bytes && load<u64>(a + i) === load<u64>(b + i)) i += 8;
  while (i < bytes && load<u8>(a + i) === load<u8>(b + i)) i++;
  return i;
}
