/**
 * Where things are in the module's memory.
 *
 *   static data | frames | entries | their order, two times | buckets, two times | nodes, two halves that grow
 *
 *   frame   16 references of 40 | a reference of 40 | an entry       what a walk needs of a node, by the node's depth
 *   entry   path 32 | its nibbles u32 | bytes of the value u32 | value              0 bytes: the path is removed
 */

/** Takes the root that a call begins at. */
export const ROOT: usize = memory.data(32, 16);
/** Takes the path to find. */
export const PATH: usize = memory.data(32, 16);
/** The root that an update or a list gives. */
export const RESULT: usize = memory.data(32, 16);

/** Nibbles of a path in a trie of accounts or slots. */
export const PATH_NIBBLES: i32 = 64;
/** Of a branch with 16 hashes. */
export const MAX_NODE_BYTES: u32 = 532;
/** An account has 110 bytes, a slot 33. */
export const MAX_VALUE_BYTES: u32 = 144;

export const REFERENCE_BYTES: usize = 40;
export const ENTRY_NIBBLES: usize = 32;
export const ENTRY_VALUE_BYTES: usize = 36;
export const ENTRY_VALUE: usize = 40;
export const ENTRY_BYTES: usize = 192;

export const FRAME_REFERENCE: usize = 640;
export const FRAME_ENTRY: usize = 680;
const FRAME_BYTES: usize = 896;
const FRAMES: usize = 0x2000;

export const MAX_ENTRIES: u32 = 4096;
export const ENTRIES: usize = 0x11000;
/** Pointers to entries. */
export const ORDER: usize = 0xd2000;
export const SPARE_ORDER: usize = 0xd7000;

export const BUCKET_BITS: u32 = 15;
export const BUCKETS: usize = 0xe0000;
export const NODES: usize = 0x120000;
export const HALF_BYTES: usize = 0x1000000;

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

export function copyWord(to: usize, from: usize): void {
  v128.store(to, v128.load(from));
  v128.store(to, v128.load(from, 16), 16);
}
