/**
 * Writes many keys of a trie at once. A page is read and written once, and a node is hashed once, however many keys
 * below it change.
 *
 * Writes are pointers to entries, sorted by path: those below a node are neighbours. Up to 4 leaves below a position are
 * stored in the page above; more get a page. So the pages of a trie depend on its leaves alone, not on the order of the
 * writes.
 */

import {keccak256} from "../../hash/wasm/keccak";
import {setAccounts} from "./account";
import {becomeBranch, beginAt, refer, referRoot} from "./change";
import {comparePaths, sortEntries} from "./entries";
import * as host from "./host";
import * as Layout from "./layout";
import {clearBranch, endOfRun, make} from "./make";
import * as Pages from "./pages";
import {EMPTY_ROOT, endOf, isHash} from "./rlp";

/**
 * What the last update left at its position in the trie: page number `page` with REFERENCE, its reference in the parent;
 * or, if `page` is 0, the `count` leaves whose entries LEAVES points to.
 */
export let page: f64 = 0;
export const REFERENCE: usize = memory.data(48, 16);
let count: u32 = 0;
export const LEAVES: usize = memory.data(16, 16);

export function becomePage(number: f64): void {
  page = number;
}

/** Those at LEAVES. */
export function becomeLeaves(leaves: u32): void {
  page = 0;
  count = leaves;
}

/** Applies entries to the trie at page `root`, and sets RESULT. @returns the new root's page. 0: an empty trie */
export function update(root: f64, entries: u32, accounts: bool): f64 {
  setAccounts(accounts);
  const end = sortEntries(entries);
  if (root === 0) become(Layout.SPARE_ORDER, copyValues(Layout.ORDER, end), 0);
  else {
    const body = Pages.readPage(root, 0);
    if (load<u8>(body) === Pages.SMALL_PAGE)
      changeLeaves(Pages.smallLeavesAt(body), Pages.smallCount(body), 0, Layout.ORDER, end, 0);
    else changePage(body, root, Layout.ORDER, end, 0);
  }
  if (page === 0) return putSmall(root);
  becomeRoot();
  return page;
}

/** Sets RESULT to the hash of the root, whose reference is REFERENCE. */
export function becomeRoot(): void {
  if (isHash(REFERENCE)) Layout.copyWord(Layout.RESULT, REFERENCE + 1);
  else keccak256(REFERENCE, endOf(REFERENCE) - REFERENCE, Layout.RESULT);
}

export function putSmall(before: f64): f64 {
  if (count === 0) {
    Layout.copyWord(Layout.RESULT, EMPTY_ROOT);
    return 0;
  }
  const to = Layout.outputOf(0);
  store<u8>(to, Pages.SMALL_PAGE);
  store<u8>(to, count, 1);
  let at = Pages.smallLeavesAt(to);
  for (let i: u32 = 0; i < count; i++) at = Pages.writeLeaf(at, load<u32>(LEAVES + (i << 2)), 0);
  make(LEAVES, LEAVES + (count << 2), 0);
  referRoot();
  return Pages.putPage(at, 0, before);
}

/** @param depth - of the page's position. If it was higher when the page was written, a new page replaces it */
function changePage(body: usize, number: f64, from: usize, to: usize, depth: i32): void {
  Pages.placeBranch(body);
  const before = Pages.pageDepth(body) === depth ? number : 0;
  const branch = Pages.branchDepth(body);
  let shared = branch;
  let end = from;
  for (let at = from; at < to; at += 4) {
    const entry: usize = load<u32>(at);
    const first = Layout.firstDifference(entry, Pages.PLACE, depth, branch);
    // The path to remove is not in the trie.
    if (first < branch && load<u32>(entry, Layout.ENTRY_VALUE_BYTES) === 0) continue;
    if (first < branch) makeValue(entry, 0, 0);
    shared = min(shared, first);
    end = push(end, entry);
  }
  if (shared < branch) writePage(0, 0, from, end, depth, shared, body, number);
  else writePage(body, before, from, end, depth, branch, 0, 0);
}

/**
 * Writes the page of the branch at depth `branch`. A parameter that does not apply is 0.
 *
 * @param old - body of the page to change. @param before - its number, if its position stays the same
 * @param moved - body of a page that becomes a child of the branch. @param movedNumber - its number
 */
function writePage(
  old: usize,
  before: f64,
  from: usize,
  to: usize,
  depth: i32,
  branch: i32,
  moved: usize,
  movedNumber: f64,
): void {
  const output = Layout.outputOf(depth);
  const children = Pages.writeHead(output, depth, branch);
  const first = Pages.firstPathByte(branch);
  const movedChild = moved === 0 ? -1 : Layout.nibble(Pages.PLACE, branch);
  let left = old === 0 ? 0 : Pages.childrenAt(old);
  let at = children;
  let taken = 0;
  let leaves: u32 = 0;
  let pages = 0;
  let only = 0;
  let lastPage: f64 = 0;
  for (let child = 0; child < 16; child++) {
    const begin = at;
    const hasWrites = from < to && Layout.nibble(load<u32>(from), branch) === child;
    const end = hasWrites ? endOfRun(from, to, branch) : from;
    const next = left === 0 ? 0 : Pages.endOfChild(left, first);
    if (!hasWrites && child !== movedChild) {
      if (left === 0) store<u8>(at++, 0);
      else {
        memory.copy(at, left, next - left);
        at += next - left;
      }
    } else {
      Layout.setNibble(Pages.PLACE, branch, child);
      if (child === movedChild) changePage(moved, movedNumber, from, end, branch + 1);
      else if (left === 0) become(from, end, branch + 1);
      else changeChild(left, from, end, branch);
      at = writeChild(at, branch);
    }
    left = next;
    from = end;
    const kind: u32 = load<u8>(begin);
    if (kind === 0) continue;
    taken++;
    only = child;
    // Only whole tries are updated: what the child has become may depend on nodes that are not known.
    if (Pages.isHashChild(kind)) host.miss(Pages.hashOfChild(begin));
    else if (Pages.isPageChild(kind)) {
      pages++;
      lastPage = Pages.pageNumber(begin);
    } else leaves += Pages.leafCount(begin);
  }
  if (pages === 0 && leaves <= Pages.MOST_LEAVES) takeLeaves(children, branch, depth);
  else if (taken === 1) {
    // A branch with one child is removed: the child's page moves up to this position.
    Layout.setNibble(Pages.PLACE, branch, only);
    const body = Pages.readPage(lastPage, branch + 1);
    Pages.placeBranch(body);
    writePage(body, 0, 0, 0, depth, Pages.branchDepth(body), 0, 0);
  } else {
    referPage(children, depth, branch);
    page = Pages.putPage(at, depth, before);
  }
}

/** Writes the reference to a page at PLACE in its parent to REFERENCE. */
export function referPage(children: usize, depth: i32, branch: i32): void {
  gatherBranch(children, branch);
  beginAt(depth);
  refer(REFERENCE);
}

/** Sets the current node to the branch of a page at PLACE. */
export function gatherBranch(children: usize, branch: i32): void {
  const references = clearBranch(branch);
  const first = Pages.firstPathByte(branch);
  for (let child: usize = 0, at = children; child < 16; child++, at = Pages.endOfChild(at, first))
    if (load<u8>(at) !== 0) Pages.copyChildReference(references + child * Layout.REFERENCE_BYTES, at);
  becomeBranch(Pages.PLACE, branch, references);
}

function changeChild(child: usize, from: usize, to: usize, branch: i32): void {
  const kind: u32 = load<u8>(child);
  if (Pages.isHashChild(kind)) host.miss(Pages.hashOfChild(child));
  if (!Pages.isPageChild(kind)) {
    changeLeaves(
      Pages.leavesOf(child),
      Pages.leafCount(child),
      Pages.firstPathByte(branch),
      from,
      to,
      branch + 1,
    );
    return;
  }
  const number = Pages.pageNumber(child);
  changePage(Pages.readPage(number, branch + 1), number, from, to, branch + 1);
}

/** Merges entries into stored leaves. @param leaves - of the position PLACE. @param kind - their number */
function changeLeaves(leaves: usize, kind: u32, first: usize, from: usize, to: usize, depth: i32): void {
  let end = Layout.SPARE_ORDER;
  for (let i: u32 = 0; i < kind; i++) {
    const leaf = Layout.scratchOf(depth, i);
    Pages.readLeaf(leaves, first, leaf);
    leaves = Pages.endOfLeaf(leaves, first);
    let order = 1;
    while (from < to) {
      order = comparePaths(load<u32>(from), leaf);
      if (order >= 0) break;
      end = pushValue(end, load<u32>(from));
      from += 4;
    }
    if (order === 0)
      makeValue(load<u32>(from), leaf + Layout.ENTRY_VALUE, load<u32>(leaf, Layout.ENTRY_VALUE_BYTES));
    // A write of the same path replaces the leaf.
    if (from >= to || order > 0) end = push(end, leaf);
  }
  for (; from < to; from += 4) end = pushValue(end, load<u32>(from));
  become(Layout.SPARE_ORDER, end, depth);
}

/** Sets the result of sorted entries without removals, whose paths are equal down to `depth`. */
function become(from: usize, to: usize, depth: i32): void {
  const entries = <u32>(to - from) >> 2;
  if (entries <= Pages.MOST_LEAVES) {
    page = 0;
    count = entries;
    memory.copy(LEAVES, from, to - from);
    return;
  }
  const first: usize = load<u32>(from);
  Layout.copyWord(Pages.PLACE, first);
  writePage(
    0,
    0,
    from,
    to,
    depth,
    Layout.firstDifference(first, load<u32>(to - 4), depth, Layout.PATH_NIBBLES),
    0,
    0,
  );
}

/** Writes the result as a child of a branch. @returns the address after it */
export function writeChild(to: usize, branch: i32): usize {
  if (page !== 0) return Pages.writePageChild(to, page, REFERENCE);
  if (count === 0) {
    store<u8>(to, 0);
    return to + 1;
  }
  make(LEAVES, LEAVES + (count << 2), branch + 1);
  refer(REFERENCE);
  let at = Pages.writeLeafChild(to, count, REFERENCE);
  for (let i: u32 = 0; i < count; i++)
    at = Pages.writeLeaf(at, load<u32>(LEAVES + (i << 2)), Pages.firstPathByte(branch));
  return at;
}

/** Sets the result to the leaves of a branch that has too few for a page. */
export function takeLeaves(children: usize, branch: i32, depth: i32): void {
  page = 0;
  count = 0;
  const first = Pages.firstPathByte(branch);
  for (let child = 0, at = children; child < 16; child++) {
    Layout.setNibble(Pages.PLACE, branch, child);
    let leaf = Pages.leavesOf(at);
    for (let i = Pages.leafCount(at); i > 0; i--) {
      const entry = Layout.scratchOf(depth, 4 + count);
      Pages.readLeaf(leaf, first, entry);
      store<u32>(LEAVES + (count++ << 2), <u32>entry);
      leaf = Pages.endOfLeaf(leaf, first);
    }
    at = leaf;
  }
}

/** Copies the pointers to entries, except removals, to SPARE_ORDER. @returns their end */
function copyValues(from: usize, to: usize): usize {
  let end = Layout.SPARE_ORDER;
  for (; from < to; from += 4) end = pushValue(end, load<u32>(from));
  return end;
}

function pushValue(end: usize, entry: usize): usize {
  makeValue(entry, 0, 0);
  return load<u32>(entry, Layout.ENTRY_VALUE_BYTES) === 0 ? end : push(end, entry);
}

function push(end: usize, entry: usize): usize {
  store<u32>(end, <u32>entry);
  return end + 4;
}

/** Makes the new value of an entry. @param value - the stored one. @param bytes - its length; 0: none is stored */
function makeValue(entry: usize, value: usize, bytes: u32): void {
  if (load<u32>(entry, Layout.ENTRY_VALUE_BYTES) === Layout.UNMADE)
    host.make((entry - Layout.ENTRIES) / Layout.ENTRY_BYTES, value, bytes);
}
