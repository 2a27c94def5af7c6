/**
 * Writes many keys of a trie at once. A node is read, encoded and hashed once, however many keys below it change.
 *
 * Writes are pointers to entries, sorted by path: those below a node are neighbours.
 */
import {
  becomeBranch,
  becomeExtension,
  becomeLeaf,
  becomeNothing,
  beginAt,
  isNothing,
  refer,
  referRoot,
} from "./change";
import {comparePaths, sortEntries} from "./entries";
import {
  copyWord,
  ENTRY_NIBBLES,
  ENTRY_VALUE,
  ENTRY_VALUE_BYTES,
  FRAME_ENTRY,
  FRAME_REFERENCE,
  firstDifference,
  frame,
  nibble,
  ORDER,
  PATH_NIBBLES,
  REFERENCE_BYTES,
  RESULT,
  ROOT,
  SPARE_ORDER,
  setNibble,
} from "./layout";
import {refuseLast, resolve} from "./nodes";
import {
  contentOf,
  copyReference,
  endOf,
  isBranch,
  isEmpty,
  isEmptyRoot,
  isHash,
  isLeafPath,
  pathNibbles,
  pathStart,
  writeEmptyRoot,
} from "./rlp";

/** Of an entry that is no value, but the reference of a leaf. */
export const IS_REFERENCE: u32 = 0xffffffff;

/** Applies the first `count` entries to the trie of ROOT; its root is RESULT then. Of entries with the same path the last counts. */
export function update(count: u32): void {
  const end = sortEntries(count);
  change(isEmptyRoot(ROOT) ? 0 : resolve(ROOT), ORDER, end, 0);
  if (isNothing()) writeEmptyRoot(RESULT);
  else referRoot();
}

/** @param node - its RLP; 0: there is none. @param from - the first write, there is one. @param depth - of the node */
function change(node: usize, from: usize, to: usize, depth: i32): void {
  if (node === 0) make(SPARE_ORDER, copyValues(from, to), depth);
  else if (isBranch(node)) {
    if (depth >= PATH_NIBBLES) refuseLast();
    let item = contentOf(node);
    const references = frame(depth);
    for (let child: usize = 0; child < 16; child++) {
      copyReference(references + child * REFERENCE_BYTES, item);
      item = endOf(item);
    }
    changeBranch(from, to, depth);
  } else if (readShort(node, load<u32>(from), depth, frame(depth))) changeLeaf(from, to, depth);
  else changeExtension(from, to, depth);
}

/**
 * Reads a leaf or extension into a frame: its path from the root on, and its value or reference.
 *
 * @param above - a path that begins as the node's
 * @returns whether it is a leaf
 */
function readShort(node: usize, above: usize, depth: i32, into: usize): bool {
  const item = contentOf(node);
  const isLeaf = isLeafPath(item);
  const end = depth + pathNibbles(item);
  if (isLeaf ? end !== PATH_NIBBLES : end >= PATH_NIBBLES) refuseLast();
  const entry = into + FRAME_ENTRY;
  copyWord(entry, above);
  const own = contentOf(item);
  for (let at = depth, position = pathStart(item); at < end; at++, position++)
    setNibble(entry, at, nibble(own, position));
  store<i32>(entry, end, ENTRY_NIBBLES);
  const second = endOf(item);
  if (!isLeaf) copyReference(into + FRAME_REFERENCE, second);
  else {
    const value = contentOf(second);
    const bytes = endOf(second) - value;
    store<u32>(entry, bytes, ENTRY_VALUE_BYTES);
    memory.copy(entry + ENTRY_VALUE, value, bytes);
  }
  return isLeaf;
}

function changeLeaf(from: usize, to: usize, depth: i32): void {
  const leaf = frame(depth) + FRAME_ENTRY;
  let end = SPARE_ORDER;
  let isPlaced = false;
  for (; from < to; from += 4) {
    const entry: usize = load<u32>(from);
    const order = isPlaced ? 1 : comparePaths(entry, leaf);
    if (!isPlaced && order >= 0) {
      isPlaced = true;
      if (order > 0) end = push(end, leaf);
    }
    if (load<u32>(entry, ENTRY_VALUE_BYTES) !== 0) end = push(end, entry);
  }
  if (!isPlaced) end = push(end, leaf);
  make(SPARE_ORDER, end, depth);
}

function changeExtension(from: usize, to: usize, depth: i32): void {
  const own = frame(depth) + FRAME_ENTRY;
  const reference = frame(depth) + FRAME_REFERENCE;
  const end = load<i32>(own, ENTRY_NIBBLES);
  const first = firstDifference(own, load<u32>(from), depth, end);
  const shared = firstDifference(own, load<u32>(to - 4), depth, first);
  if (shared === end) change(follow(reference), from, to, end);
  else {
    const references = clearBranch(shared);
    const child = references + nibble(own, shared) * REFERENCE_BYTES;
    if (shared + 1 === end) copyReference(child, reference);
    else {
      becomeExtension(own, shared + 1, end, reference);
      refer(child);
    }
    changeBranch(from, to, shared);
  }
  beginAt(depth);
}

/** The branch's references are in its frame. */
function changeBranch(from: usize, to: usize, depth: i32): void {
  const references = frame(depth);
  const path: usize = load<u32>(from);
  while (from < to) {
    const end = endOfRun(from, to, depth);
    const child = references + nibble(load<u32>(from), depth) * REFERENCE_BYTES;
    change(follow(child), from, end, depth + 1);
    refer(child);
    from = end;
  }
  let left = 0;
  let only = 0;
  for (let child = 0; child < 16; child++)
    if (!isEmpty(references + child * REFERENCE_BYTES)) {
      left++;
      only = child;
    }
  if (left === 0) becomeNothing();
  else if (left > 1) becomeBranch(path, depth, references);
  else liftChild(path, depth, only);
}

/** A branch with one child left is none. */
function liftChild(path: usize, depth: i32, child: i32): void {
  const into = frame(depth);
  const entry = into + FRAME_ENTRY;
  const reference = into + child * REFERENCE_BYTES;
  const node = follow(reference);
  copyWord(entry, path);
  setNibble(entry, depth, child);
  if (isBranch(node)) becomeExtension(entry, depth, depth + 1, reference);
  else if (readShort(node, entry, depth + 1, into)) becomeLeaf(entry, depth);
  else becomeExtension(entry, depth, load<i32>(entry, ENTRY_NIBBLES), into + FRAME_REFERENCE);
}

/** Makes a trie of sorted entries that are alike down to `depth`. */
export function make(from: usize, to: usize, depth: i32): void {
  const first: usize = load<u32>(from);
  if (from === to) becomeNothing();
  else if (from + 4 === to) becomeLeaf(first, depth);
  else makeBranch(from, to, depth);
}

function makeBranch(from: usize, to: usize, depth: i32): void {
  const first: usize = load<u32>(from);
  const at = firstDifference(first, load<u32>(to - 4), depth, PATH_NIBBLES);
  const references = clearBranch(at);
  while (from < to) {
    const end = endOfRun(from, to, at);
    const entry: usize = load<u32>(from);
    const child = references + nibble(entry, at) * REFERENCE_BYTES;
    if (load<u32>(entry, ENTRY_VALUE_BYTES) === IS_REFERENCE && from + 4 === end)
      copyReference(child, entry + ENTRY_VALUE);
    else {
      make(from, end, at + 1);
      refer(child);
    }
    from = end;
  }
  becomeBranch(first, at, references);
  beginAt(depth);
}

/** @returns the node of a reference; 0: there is none */
function follow(reference: usize): usize {
  if (isEmpty(reference)) return 0;
  return isHash(reference) ? resolve(reference + 1) : reference;
}

function clearBranch(depth: i32): usize {
  const references = frame(depth);
  for (let child: usize = 0; child < 16; child++) store<u8>(references + child * REFERENCE_BYTES, 0x80);
  return references;
}

/** @returns the end of the pointers from `from` on whose paths have the same nibble at `depth` */
function endOfRun(from: usize, to: usize, depth: i32): usize {
  const own = nibble(load<u32>(from), depth);
  do from += 4;
  while (from < to && nibble(load<u32>(from), depth) === own);
  return from;
}

/** Copies the pointers of all but removals to SPARE_ORDER. @returns their end */
function copyValues(from: usize, to: usize): usize {
  let end = SPARE_ORDER;
  for (; from < to; from += 4)
    if (load<u32>(load<u32>(from), ENTRY_VALUE_BYTES) !== 0) end = push(end, load<u32>(from));
  return end;
}

function push(end: usize, entry: usize): usize {
  store<u32>(end, entry);
  return end + 4;
}
