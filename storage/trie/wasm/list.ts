/**
 * The root of a list: the trie of position as RLP -> bytes. Values come in the order of their paths, since all of them
 * may be many megabytes. Each becomes the reference of its leaf; then the branches above are made.
 *
 *   pointers to entries | entries      where an update has pages
 *   the leaf to be hashed              where an update has its entries
 */
import {keccak256} from "../../hash/wasm/keccak";
import {setAccounts} from "./account";
import {referRoot, writeLeafHead} from "./change";
import * as Layout from "./layout";
import {IS_REFERENCE, make} from "./make";
import {copyReference, writeHashReference} from "./rlp";

const LIST_ENTRY_BYTES: usize = 80;
/** Pointers to entries. */
const LIST_ORDER: usize = Layout.LIST;
export const MAX_LIST: u32 = <u32>(Layout.MAX_LIST_BYTES / LIST_ENTRY_BYTES);
let entries: usize = 0;

const OTHER_KEY: usize = memory.data(32, 16);

export function beginList(count: u32): void {
  entries = (LIST_ORDER + (count << 2) + 15) & ~15;
  Layout.growTo(entries + count * LIST_ENTRY_BYTES);
}

/** @returns the position in the list of the one that is `rank`th by its path: 1 to 127, 0, 128 and so on */
export function positionOf(rank: u32, count: u32): u32 {
  if (rank > 127) return rank;
  return rank === min<u32>(127, count - 1) ? 0 : rank + 1;
}

/** Writes what comes before a leaf's value. @param first - the value's first byte. @returns the address after it */
export function beginLeaf(rank: u32, count: u32, bytes: u32, first: u32): usize {
  const entry = entries + rank * LIST_ENTRY_BYTES;
  const nibbles = writeKey(entry, positionOf(rank, count));
  let depth = 0;
  for (let other = rank - 1; other !== rank + 3; other += 2) {
    if (other >= count) continue;
    writeKey(OTHER_KEY, positionOf(other, count));
    depth = max(depth, 1 + Layout.firstDifference(entry, OTHER_KEY, 0, Layout.PATH_NIBBLES));
  }
  store<i32>(entry, nibbles, Layout.ENTRY_NIBBLES);
  store<u32>(entry, IS_REFERENCE, Layout.ENTRY_VALUE_BYTES);
  store<u32>(LIST_ORDER + (rank << 2), entry);
  return writeLeafHead(Layout.ENTRIES, entry, depth, nibbles, bytes, first);
}

/** Ends a leaf of which all bytes are at ENTRIES. */
export function endLeaf(rank: u32, bytes: u32): void {
  keccak256(Layout.ENTRIES, bytes, Layout.RESULT);
  if (bytes < 32) copyReference(referenceOf(rank), Layout.ENTRIES);
  else endHashedLeaf(rank);
}

/** Ends a leaf whose hash is RESULT. */
export function endHashedLeaf(rank: u32): void {
  writeHashReference(referenceOf(rank), Layout.RESULT);
}

function referenceOf(rank: u32): usize {
  return entries + rank * LIST_ENTRY_BYTES + Layout.ENTRY_VALUE;
}

/** Writes the root of a list whose leaves were made to RESULT. */
export function endList(count: u32): void {
  // The only leaf is the root, and its hash is there.
  if (count === 1) return;
  setAccounts(false);
  make(LIST_ORDER, LIST_ORDER + (count << 2), 0);
  referRoot();
}

/** Writes a number's RLP, padded with zeros. @returns its nibbles */
function writeKey(to: usize, position: u32): i32 {
  memory.fill(to, 0, 32);
  if (position > 0 && position < 128) {
    store<u8>(to, position);
    return 2;
  }
  const bytes: u32 = position === 0 ? 0 : position < 0x100 ? 1 : position < 0x10000 ? 2 : 3;
  store<u8>(to, 0x80 + bytes);
  for (let i: u32 = 0; i < bytes; i++) store<u8>(to + 1 + i, position >> (8 * (bytes - 1 - i)));
  return 2 + 2 * bytes;
}
