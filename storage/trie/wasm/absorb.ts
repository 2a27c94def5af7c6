/**
 * A trie of which only the root and some nodes are known, written as the next version of an older one. A node is known
 * by its hash: from a proof, or because the older version has it.
 *
 *   its hash is that of the older child      the child's bytes are copied: what is below it has not changed
 *   it is what the older version has here,   a leaf or extension whose path is longer or shorter, because a branch was
 *   encoded at another depth                 split or collapsed: the hash tells
 *   its RLP is known                         written, and its children in the same way
 *   else                                     its hash alone is written
 *
 * Where everything below a place is known, pages are as update.ts writes them.
 */
import {keccak256} from "../../hash/wasm/keccak";
import {isAccounts, setAccounts} from "./account";
import {becomeExtension, becomeLeaf, beginAt, encodeTop, refer} from "./change";
import * as host from "./host";
import {
  firstDifference,
  isSameWord,
  NODE,
  nibble,
  nodeOf,
  outputOf,
  PATH,
  ROOT,
  rlpOf,
  scratchOf,
  setNibble,
} from "./layout";
import {make} from "./make";
import {joinBranch, readNode} from "./nodes";
import {
  BRANCH_PAGE,
  branchDepth,
  childrenAt,
  copyChildReference,
  EXTENSION_PAGE,
  endOfChild,
  endOfLeaf,
  firstPathByte,
  hashOfChild,
  isHashChild,
  isPageChild,
  leafCount,
  leavesOf,
  MOST_LEAVES,
  PLACE,
  pageDepth,
  pageNibble,
  pageNumber,
  putPage,
  readLeaf,
  readPage,
  SMALL_PAGE,
  smallCount,
  smallLeavesAt,
  writeHashChild,
  writeHead,
} from "./pages";
import {EMPTY_ROOT, endOf, isHash, writeHashReference} from "./rlp";
import {
  becomeLeaves,
  becomePage,
  gatherBranch,
  LEAVES,
  page,
  putSmall,
  REFERENCE,
  takeLeaves,
  writeChild,
} from "./update";

/** What the older version has at a place: a page of a branch there or below, */
let oldPage: usize = 0;
/** with its number, 0 for a page that was made of a node; */
let oldNumber: f64 = 0;
/** or so many leaves, some of which may be elsewhere. */
let oldLeaves: usize = 0;
let oldCount: u32 = 0;
/** Of the branch above them: firstPathByte. */
let oldFirst: usize = 0;

/** The place has become a hash alone. */
let isHashAlone: bool = false;
/** Places with a new hash alone, although the older version has leaves there. */
let unexplained: u32 = 0;

const CHILD_REFERENCE: usize = memory.data(48, 16);
const HASH: usize = memory.data(32, 16);

/**
 * Writes the trie whose root is ROOT. @param before - its older version; 0: none; below 0: of the root PATH
 * @returns its page; 0: it is empty, or only its root is known
 */
export function absorb(before: f64, accounts: bool): f64 {
  setAccounts(accounts);
  unexplained = 0;
  if (isSameWord(ROOT, EMPTY_ROOT)) return 0;
  haveNothing();
  if (before > 0) haveBody(readPage(before, 0), before);
  else if (before < 0) haveNode(PATH, 0);
  place(ROOT, 0, oldPage, oldNumber, oldLeaves, oldCount, oldFirst);
  if (isHashAlone) return 0;
  return page !== 0 ? page : putSmall(max(before, 0));
}

/** Of the last `absorb`. */
export function unexplainedPlaces(): u32 {
  return unexplained;
}

/** @param hash - of the node at PLACE. @param body - and the others: what the older version has there */
function place(
  hash: usize,
  depth: i32,
  body: usize,
  number: f64,
  leaves: usize,
  count: u32,
  first: usize,
): void {
  isHashAlone = false;
  const known = leaves === 0 ? 0 : gatherLeaves(leaves, count, first, depth);
  if (known > 0) {
    make(LEAVES, LEAVES + (known << 2), depth);
    refer(REFERENCE);
    if (isReference(hash)) return becomeLeaves(known);
  } else if (body !== 0 && pageDepth(body) < depth) {
    referMoved(body, depth);
    if (isReference(hash)) return putMoved(body, 0, depth);
  }
  const node = nodeOf(depth, 0);
  if (!readNode(hash, depth, node)) {
    if (known > 0 || body !== 0) unexplained++;
    isHashAlone = true;
  } else if (load<u8>(node) === SMALL_PAGE) placeLeaf(node, depth, body);
  else if (load<u8>(node) === EXTENSION_PAGE)
    placeExtension(hash, node, depth, body, number, leaves, count, first);
  else putBranch(hash, node, depth, body, number, leaves, count, first);
}

function placeLeaf(node: usize, depth: i32, body: usize): void {
  const entry = scratchOf(depth, 0);
  readLeaf(smallLeavesAt(node), 0, entry);
  if (!isAccounts) keepMoved(entry, depth, body, 0, 0);
  store<u32>(LEAVES, <u32>entry);
  becomeLeaves(1);
}

function placeExtension(
  hash: usize,
  node: usize,
  depth: i32,
  body: usize,
  number: f64,
  leaves: usize,
  count: u32,
  first: usize,
): void {
  const end = branchDepth(node);
  const branchHash = childrenAt(node);
  for (let at = depth; at < end; at++) setNibble(PLACE, at, pageNibble(node, at));
  if (!isAccounts) keepMoved(PLACE, depth, body, end, branchHash);
  for (let at = depth; at < end; at++) {
    setNibble(PLACE, at, pageNibble(node, at));
    descend(body, number, leaves, count, first, at + 1);
    body = oldPage;
    number = oldNumber;
    leaves = oldLeaves;
    count = oldCount;
    first = oldFirst;
  }
  if (body !== 0 && branchDepth(body) === end) {
    referMoved(body, end);
    if (isReference(branchHash)) {
      writeHashReference(REFERENCE, hash);
      return putMoved(body, number, depth);
    }
  }
  const branch = nodeOf(end, 0);
  if (readNode(branchHash, end, branch)) {
    if (load<u8>(branch) !== BRANCH_PAGE) host.refuseNode(branchHash, end);
    return putBranch(hash, branch, depth, body, number, leaves, count, first);
  }
  // The path of an absent key may end here. No page has the nibbles of an extension without its branch.
  host.keep(rlpOf(node), <u32>(endOf(rlpOf(node)) - rlpOf(node)));
  isHashAlone = true;
}

/** @param node - the page of a branch, at `depth` or below an extension there */
function putBranch(
  hash: usize,
  node: usize,
  depth: i32,
  body: usize,
  number: f64,
  leaves: usize,
  count: u32,
  first: usize,
): void {
  const branch = branchDepth(node);
  const output = outputOf(depth);
  const children = writeHead(output, depth, branch);
  const firstByte = firstPathByte(branch);
  let old = body !== 0 && branchDepth(body) === branch ? childrenAt(body) : 0;
  let from = childrenAt(node);
  let at = children;
  let others = 0;
  let leavesHere: u32 = 0;
  for (let child = 0; child < 16; child++) {
    const begin = at;
    const kind: u32 = load<u8>(from);
    const next = endOfChild(from, firstByte);
    const oldNext = old === 0 ? 0 : endOfChild(old, firstByte);
    if (!isHashChild(kind)) at = copyChild(at, from, next);
    else if (old !== 0 && load<u8>(old) !== 0 && isChildOf(old, hashOfChild(from)))
      at = copyChild(at, old, oldNext);
    else {
      setNibble(PLACE, branch, child);
      descend(body, number, leaves, count, first, branch + 1);
      place(hashOfChild(from), branch + 1, oldPage, oldNumber, oldLeaves, oldCount, oldFirst);
      at = isHashAlone ? writeHashChild(at, hashOfChild(from)) : writeChild(at, branch);
    }
    const kindHere: u32 = load<u8>(begin);
    if (isPageChild(kindHere) || isHashChild(kindHere)) others++;
    else leavesHere += leafCount(begin);
    from = next;
    old = oldNext;
  }
  isHashAlone = false;
  if (others === 0 && leavesHere <= MOST_LEAVES) return takeLeaves(children, branch, depth);
  writeHashReference(REFERENCE, hash);
  becomePage(putPage(at, depth, body !== 0 && pageDepth(body) === depth ? number : 0));
}

/** What the older version has one nibble of PLACE further down. @param depth - after that nibble */
function descend(body: usize, number: f64, leaves: usize, count: u32, first: usize, depth: i32): void {
  haveNothing();
  oldLeaves = leaves;
  oldCount = count;
  oldFirst = first;
  if (body === 0) return;
  const branch = branchDepth(body);
  if (depth <= branch) {
    if (pageNibble(body, depth - 1) === nibble(PLACE, depth - 1)) haveBody(body, number);
    return;
  }
  const firstByte = firstPathByte(branch);
  let child = childrenAt(body);
  for (let i = nibble(PLACE, branch); i > 0; i--) child = endOfChild(child, firstByte);
  const kind: u32 = load<u8>(child);
  if (kind === 0) return;
  if (isPageChild(kind)) haveBody(readPage(pageNumber(child), depth), pageNumber(child));
  else if (isHashChild(kind)) haveNode(hashOfChild(child), depth);
  else {
    oldLeaves = leavesOf(child);
    oldCount = leafCount(child);
    oldFirst = firstByte;
  }
}

function haveNothing(): void {
  oldPage = 0;
  oldNumber = 0;
  oldLeaves = 0;
}

function haveNode(hash: usize, depth: i32): void {
  const node = nodeOf(depth, 1);
  if (!readNode(hash, depth, node)) return;
  const body = load<u8>(node) === EXTENSION_PAGE ? joinBranch(node, depth) : node;
  if (body !== 0) haveBody(body, 0);
}

function haveBody(body: usize, number: f64): void {
  if (load<u8>(body) === SMALL_PAGE) {
    oldLeaves = smallLeavesAt(body);
    oldCount = smallCount(body);
    oldFirst = 0;
  } else {
    oldPage = body;
    oldNumber = number;
  }
}

/** Puts those leaves to LEAVES that are below PLACE. @returns how many */
function gatherLeaves(leaves: usize, count: u32, first: usize, depth: i32): u32 {
  let gathered: u32 = 0;
  for (; count > 0; count--, leaves = endOfLeaf(leaves, first)) {
    const entry = scratchOf(depth, gathered);
    readLeaf(leaves, first, entry);
    if (firstDifference(entry, PLACE, 0, depth) === depth) store<u32>(LEAVES + (gathered++ << 2), <u32>entry);
  }
  return gathered;
}

/** Writes the reference to a page's branch to REFERENCE, with the nibbles above it from `depth` on. */
function referMoved(body: usize, depth: i32): void {
  const branch = branchDepth(body);
  for (let at = depth; at < branch; at++) setNibble(PLACE, at, pageNibble(body, at));
  gatherBranch(childrenAt(body), branch);
  beginAt(depth);
  refer(REFERENCE);
}

/** Puts a page's branch as one that begins at `depth`, whose reference is REFERENCE. @param number - 0: not at a new place */
function putMoved(body: usize, number: f64, depth: i32): void {
  const branch = branchDepth(body);
  const from = childrenAt(body);
  const to = writeHead(outputOf(depth), depth, branch);
  let end = from;
  for (let child = 0; child < 16; child++) end = endOfChild(end, firstPathByte(branch));
  const before = pageDepth(body) === depth ? number : 0;
  becomePage(putPage(copyChild(to, from, end), depth, before));
}

/**
 * A branch of the older version has collapsed: the leaf or extension here took the place of another one, which had a
 * shorter path and is in no proof.
 *
 * @param path - of the leaf, or down to `end`. @param branchHash - of the extension's branch; 0: it is a leaf
 */
function keepMoved(path: usize, depth: i32, body: usize, end: i32, branchHash: usize): void {
  while (body !== 0 && load<u8>(body) !== SMALL_PAGE) {
    const branch = branchDepth(body);
    const below = branch + 1;
    if (branchHash !== 0 && below >= end) return;
    for (let at = depth; at < branch; at++) if (pageNibble(body, at) !== nibble(path, at)) return;
    let child = childrenAt(body);
    for (let i = nibble(path, branch); i > 0; i--) child = endOfChild(child, firstPathByte(branch));
    const kind: u32 = load<u8>(child);
    if (isHashChild(kind)) {
      if (branchHash === 0) becomeLeaf(path, below);
      else {
        writeHashReference(CHILD_REFERENCE, branchHash);
        becomeExtension(path, below, end, CHILD_REFERENCE);
      }
      const bytes = encodeTop();
      keccak256(NODE, bytes, HASH);
      if (isSameWord(HASH, hashOfChild(child))) host.keep(NODE, bytes);
      return;
    }
    if (!isPageChild(kind)) return;
    body = readPage(pageNumber(child), below);
    depth = below;
  }
}

function copyChild(to: usize, from: usize, end: usize): usize {
  memory.copy(to, from, end - from);
  return to + (end - from);
}

function isChildOf(child: usize, hash: usize): bool {
  copyChildReference(CHILD_REFERENCE, child);
  return isHash(CHILD_REFERENCE) && isSameWord(CHILD_REFERENCE + 1, hash);
}

function isReference(hash: usize): bool {
  return isHash(REFERENCE) && isSameWord(REFERENCE + 1, hash);
}
