/**
 * RLP of trie nodes, read and written in place.
 *
 *   leaf        [path to the end, value]
 *   extension   [path, child]                   the child is a branch
 *   branch      [child 0, ..., child 15, ""]    no key is the start of another one, so a branch has no value
 *
 * A path has two nibbles in a byte, after a flag: 2 for a leaf, and 1 for an odd number of nibbles. A child is given by
 * a reference: the node itself if it is shorter than 32 bytes, else its keccak256; an empty string: there is none.
 */
import {copyWord, nibble} from "./layout";

/** keccak256 of the RLP of no bytes: the root of an empty trie. */
export const EMPTY_ROOT: usize = memory.data<u64>([
  0xa655cc1b171fe856, 0x6ef8c092e64583ff, 0xc0ad6c991be0485b, 0x21b463e3b52f6201,
]);

export const STRING: u32 = 0x80;
export const LIST: u32 = 0xc0;
const MAX_SHORT: u32 = 55;
const HASH: u8 = 0xa0;

/** @returns where the items of a string or list begin */
export function contentOf(item: usize): usize {
  const first: u32 = load<u8>(item);
  if (first < STRING) return item;
  const short = (first < LIST ? STRING : LIST) + MAX_SHORT;
  return item + 1 + (first > short ? first - short : 0);
}

export function endOf(item: usize): usize {
  const first: u32 = load<u8>(item);
  if (first < STRING) return item + 1;
  const base = first < LIST ? STRING : LIST;
  if (first <= base + MAX_SHORT) return item + 1 + first - base;
  let length: u32 = 0;
  const content = contentOf(item);
  for (let at = item + 1; at < content; at++) length = (length << 8) | load<u8>(at);
  return content + length;
}

export function isEmpty(reference: usize): bool {
  return load<u8>(reference) === STRING;
}

export function isHash(reference: usize): bool {
  return load<u8>(reference) === HASH;
}

/** Reads and writes 33 bytes, however many it has. @returns the address after it */
export function copyReference(to: usize, from: usize): usize {
  const last = load<u8>(from, 32);
  copyWord(to, from);
  store<u8>(to, last, 32);
  return to + (endOf(from) - from);
}

export function writeHashReference(to: usize, hash: usize): void {
  store<u8>(to, HASH);
  copyWord(to + 1, hash);
}

/** How many bytes come before a string or list of that length. */
export function headBytes(length: u32): u32 {
  if (length <= MAX_SHORT) return 1;
  return length < 0x100 ? 2 : length < 0x10000 ? 3 : length < 0x1000000 ? 4 : 5;
}

/** @param base - STRING or LIST. @returns the address after what it wrote */
export function writeHead(to: usize, base: u32, length: u32): usize {
  const bytes = headBytes(length);
  if (bytes === 1) store<u8>(to, base + length);
  else {
    store<u8>(to, base + MAX_SHORT + bytes - 1);
    for (let i: u32 = 1; i < bytes; i++) store<u8>(to + i, length >> (8 * (bytes - 1 - i)));
  }
  return to + bytes;
}

/** Bytes that writePath writes. */
export function pathBytes(nibbles: i32): u32 {
  return nibbles < 2 ? 1 : 2 + (nibbles >> 1);
}

/** Writes the nibbles of `path` from `start` to `end`. @returns the address after it */
export function writePath(to: usize, path: usize, start: i32, end: i32, isLeaf: bool): usize {
  const bytes = pathBytes(end - start);
  if (bytes > 1) store<u8>(to++, STRING + bytes - 1);
  const isOdd = (end - start) & 1;
  store<u8>(to++, (isLeaf ? 0x20 : 0) | (isOdd ? 0x10 | nibble(path, start) : 0));
  for (let at = start + isOdd; at < end; at += 2)
    store<u8>(to++, (nibble(path, at) << 4) | nibble(path, at + 1));
  return to;
}
