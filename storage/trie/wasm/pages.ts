/** Pages of a trie, in place (../triePage.ts draws them). */
import {isAccounts, isStoredAccount} from "./account";
import * as host from "./host";
import * as Layout from "./layout";
import {copyReference, endOf, isHash, LIST, writeHashReference} from "./rlp";

export const BRANCH_PAGE: u8 = 0x54;
export const SMALL_PAGE: u8 = 0x74;
/** Only in memory (nodes.ts): 'e' | depth u8 | end u8 | nibbles | the hash of the branch, where others have children */
export const EXTENSION_PAGE: u8 = 0x65;
/**
 * The most leaves of a child that is not a page. In a trie of a million accounts and 10 000 blocks, a path took 0.6 pages below
 * the lowest full level with 2, and 0.1 with 4; a leaf write took 3% more bytes with 2. A page of 16 children with 4
 * leaves each has 5 KB.
 */
export const MOST_LEAVES: u32 = 4;
/** Of a child's kind: its leaves, or the bytes of its page's number. */
const COUNT: u32 = 0x0f;
const HASHED: u32 = 0x10;
const PAGE_CHILD: u32 = 0x80;

const HEAD_BYTES: usize = 3;
const MOST_NUMBER_BYTES: u32 = 6;
const HASH_BYTES: usize = 32;

/** Where the page is that is looked at: its nibbles from the root on. */
export const PLACE: usize = memory.data(32, 16);

/** The page in each depth's frame, below 0 for one of slots: root and branches near it are the same for many paths. */
const LOADED: usize = memory.data(8 * (Layout.PATH_NIBBLES + 1), 8);

/** Reads a page to its depth's frame, if it is not there. @param depth - 0: it may be a small page */
export function readPage(number: f64, depth: i32): usize {
  const to = Layout.inputOf(depth);
  const loaded = LOADED + ((<usize>depth) << 3);
  const own = isAccounts ? number : -number;
  if (load<f64>(loaded) === own) return to;
  store<f64>(loaded, 0);
  if (!isPage(to, host.load(number, to), depth)) host.refuse(number);
  store<f64>(loaded, own);
  return to;
}

/** Not marked as loaded: if its block is refused, another page may get its number. @param before - 0: none */
export function putPage(end: usize, depth: i32, before: f64): f64 {
  const from = Layout.outputOf(depth);
  store<f64>(LOADED + ((<usize>depth) << 3), 0);
  return host.put(from, end - from, before);
}

/** Where the path of its first node begins. */
export function pageDepth(page: usize): i32 {
  return load<u8>(page, 1);
}

export function branchDepth(page: usize): i32 {
  return load<u8>(page, 2);
}

/** Writes the head of a branch page, with the nibbles of PLACE. @returns the address of its children */
export function writeHead(to: usize, depth: i32, branch: i32): usize {
  store<u8>(to, BRANCH_PAGE);
  store<u8>(to, depth, 1);
  store<u8>(to, branch, 2);
  const bytes = skipBytes(depth, branch);
  memory.copy(to + HEAD_BYTES, PLACE + (depth >> 1), bytes);
  return to + HEAD_BYTES + bytes;
}

/** Sets the nibbles of PLACE down to the page's branch. */
export function placeBranch(page: usize): void {
  const depth = pageDepth(page);
  for (let at = depth; at < branchDepth(page); at++) Layout.setNibble(PLACE, at, pageNibble(page, at));
}

/** One of those from its depth to its branch, by its position in a path. */
export function pageNibble(page: usize, at: i32): i32 {
  return Layout.nibble(page + HEAD_BYTES, at - (pageDepth(page) & ~1));
}

export function childrenAt(page: usize): usize {
  return page + HEAD_BYTES + skipBytes(pageDepth(page), branchDepth(page));
}

/** The address of a child of a branch page. @param position - 16: of their end */
export function childAt(page: usize, position: i32): usize {
  const first = firstPathByte(branchDepth(page));
  let child = childrenAt(page);
  for (; position > 0; position--) child = endOfChild(child, first);
  return child;
}

export function smallLeavesAt(page: usize): usize {
  return page + 2;
}

export function smallCount(page: usize): u32 {
  return load<u8>(page, 1);
}

/** The first byte of their paths that leaves below a branch have. */
export function firstPathByte(branch: i32): usize {
  return (branch + 1) >> 1;
}

export function isPageChild(kind: u32): bool {
  return kind >= PAGE_CHILD;
}

/** Only the hash of its node is known. */
export function isHashChild(kind: u32): bool {
  return kind === HASHED;
}

export function hashOfChild(child: usize): usize {
  return child + 1;
}

/** @returns the address after it */
export function writeHashChild(to: usize, hash: usize): usize {
  store<u8>(to, HASHED);
  Layout.copyWord(to + 1, hash);
  return to + 1 + HASH_BYTES;
}

/** Of a child that is no page. */
export function leafCount(child: usize): u32 {
  return load<u8>(child) & COUNT;
}

/** Where its hash or short node is. */
function referenceOf(child: usize): usize {
  const kind: u32 = load<u8>(child);
  return child + 1 + (isPageChild(kind) ? kind & COUNT : 0);
}

/** @returns the address after it */
export function copyChildReference(to: usize, child: usize): usize {
  if (!(load<u8>(child) & HASHED)) return copyReference(to, referenceOf(child));
  writeHashReference(to, referenceOf(child));
  return to + 1 + HASH_BYTES;
}

/** Where they begin. */
export function leavesOf(child: usize): usize {
  return load<u8>(child) === 0 ? child + 1 : endOfReference(child);
}

function endOfReference(child: usize): usize {
  const reference = referenceOf(child);
  return load<u8>(child) & HASHED ? reference + HASH_BYTES : endOf(reference);
}

/** @param first - firstPathByte of the branch */
export function endOfChild(child: usize, first: usize): usize {
  const kind: u32 = load<u8>(child);
  if (kind === 0) return child + 1;
  let at = endOfReference(child);
  if (!isPageChild(kind)) for (let i = leafCount(child); i > 0; i--) at = endOfLeaf(at, first);
  return at;
}

export function endOfLeaf(leaf: usize, first: usize): usize {
  return leaf + 1 + HASH_BYTES - first + load<u8>(leaf);
}

/** @returns the address after it */
export function writeLeaf(to: usize, entry: usize, first: usize): usize {
  const bytes = load<u32>(entry, Layout.ENTRY_VALUE_BYTES);
  store<u8>(to, bytes);
  memory.copy(to + 1, entry + first, HASH_BYTES - first);
  memory.copy(to + 1 + HASH_BYTES - first, entry + Layout.ENTRY_VALUE, bytes);
  return endOfLeaf(to, first);
}

/** Makes an entry of a leaf at PLACE. */
export function readLeaf(leaf: usize, first: usize, entry: usize): void {
  Layout.copyWord(entry, PLACE);
  memory.copy(entry + first, leaf + 1, HASH_BYTES - first);
  const bytes: u32 = load<u8>(leaf);
  store<i32>(entry, Layout.PATH_NIBBLES, Layout.ENTRY_NIBBLES);
  store<u32>(entry, bytes, Layout.ENTRY_VALUE_BYTES);
  memory.copy(entry + Layout.ENTRY_VALUE, valueAt(leaf, first), bytes);
}

export function valueAt(leaf: usize, first: usize): usize {
  return leaf + 1 + HASH_BYTES - first;
}

export function pageNumber(child: usize): f64 {
  let number: u64 = 0;
  for (let at = child + 1, end = referenceOf(child); at < end; at++) number = (number << 8) | load<u8>(at);
  return <f64>number;
}

export function writePageChild(to: usize, number: f64, reference: usize): usize {
  let rest = <u64>number;
  const bytes: u32 = (71 - <u32>clz(rest)) >> 3;
  for (let at = to + bytes; at > to; at--, rest >>= 8) store<u8>(at, <u8>rest);
  return writeReference(to, PAGE_CHILD + bytes, to + 1 + bytes, reference);
}

/** Writes a child of leaves, but for them. @returns where they begin */
export function writeLeafChild(to: usize, count: u32, reference: usize): usize {
  return writeReference(to, count, to + 1, reference);
}

function writeReference(child: usize, kind: u32, to: usize, reference: usize): usize {
  const isHashed = isHash(reference);
  store<u8>(child, isHashed ? kind | HASHED : kind);
  if (!isHashed) return copyReference(to, reference);
  Layout.copyWord(to, reference + 1);
  return to + HASH_BYTES;
}

function skipBytes(depth: i32, branch: i32): usize {
  return depth === branch ? 0 : <usize>(((branch + 1) >> 1) - (depth >> 1));
}

/** Whether these are the bytes of a page at that depth. All that the functions above rely on. */
export function isPage(page: usize, bytes: u32, depth: i32): bool {
  const end = page + bytes;
  if (bytes < HEAD_BYTES) return false;
  if (load<u8>(page) === SMALL_PAGE) {
    const count = smallCount(page);
    return (
      depth === 0 &&
      count > 0 &&
      count <= MOST_LEAVES &&
      endOfLeaves(smallLeavesAt(page), count, 0, end) === end
    );
  }
  const branch = branchDepth(page);
  if (load<u8>(page) !== BRANCH_PAGE || pageDepth(page) !== depth) return false;
  if (branch < depth || branch >= Layout.PATH_NIBBLES) return false;
  const first = firstPathByte(branch);
  let children = 0;
  let at = childrenAt(page);
  for (let i = 0; i < 16; i++) {
    if (at >= end) return false;
    const kind: u32 = load<u8>(at);
    if (kind === 0) {
      at++;
      continue;
    }
    children++;
    if (isHashChild(kind)) {
      at = endOfReference(at);
      continue;
    }
    const count = kind & COUNT;
    const isPage = isPageChild(kind);
    if (count === 0 || count > (isPage ? MOST_NUMBER_BYTES : MOST_LEAVES)) return false;
    if ((kind & ~(COUNT | HASHED)) !== (isPage ? PAGE_CHILD : 0)) return false;
    const reference = referenceOf(at);
    if (!(kind & HASHED) && (reference >= end || !isShort(reference))) return false;
    at = endOfReference(at);
    if (isPage) continue;
    at = endOfLeaves(at, count, first, end);
    if (at === 0) return false;
  }
  return at === end && children > 1;
}

/** @returns the address after the last leaf; 0: they do not end before `end`, or one has no value that can be */
function endOfLeaves(at: usize, count: u32, first: usize, end: usize): usize {
  for (let i: u32 = 0; i < count; i++) {
    if (at >= end || endOfLeaf(at, first) > end) return 0;
    const bytes: u32 = load<u8>(at);
    if (bytes === 0 || bytes > Layout.MAX_VALUE_BYTES) return 0;
    if (isAccounts && !isStoredAccount(valueAt(at, first), bytes)) return 0;
    at = endOfLeaf(at, first);
  }
  return at;
}

/** A node that is shorter than a hash. */
export function isShort(item: usize): bool {
  const first = load<u8>(item);
  return first > LIST && first < LIST + 32;
}
