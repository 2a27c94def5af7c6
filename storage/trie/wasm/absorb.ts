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
import * as Layout from "./layout";
import {make} from "./make";
import {joinBranch, readNode} from "./nodes";
import * as Pages from "./pages";
import {EMPTY_ROOT, endOf, isHash, writeHashReference} from "./rlp";
import * as Update from "./update";

/**
 * What the older version has at a place, by depth: a page of a branch there or below, with its number (0 for a page that
 * was made of a node); or leaves, some of which may be elsewhere.
 *
 *   page u32 | leaves u32 | how many u32 | their first byte u32 (firstPathByte) | number of the page f64
 */
const OLD: usize = memory.data(24 * (Layout.PATH_NIBBLES + 1), 8);
const OLD_BYTES: usize = 24;
const LEAVES_AT: usize = 4;
const COUNT_AT: usize = 8;
const FIRST_AT: usize = 12;
const NUMBER_AT: usize = 16;

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
  if (Layout.sameWord(Layout.ROOT, EMPTY_ROOT)) return 0;
  const old = nothingAt(0);
  if (before > 0) haveBody(old, Pages.readPage(before, 0), before);
  else if (before < 0) haveNode(old, Layout.PATH, 0);
  place(Layout.ROOT, 0, old);
  if (isHashAlone) return 0;
  return Update.page !== 0 ? Update.page : Update.putSmall(max(before, 0));
}

/** Of the last `absorb`. */
export function unexplainedPlaces(): u32 {
  return unexplained;
}

/** @param hash - of the node at PLACE. @param old - what the older version has there */
function place(hash: usize, depth: i32, old: usize): void {
  isHashAlone = false;
  const body = bodyOf(old);
  const known = gatherLeaves(old, depth);
  if (known > 0) {
    make(Update.LEAVES, Update.LEAVES + (known << 2), depth);
    refer(Update.REFERENCE);
    if (isReference(hash)) return Update.becomeLeaves(known);
  } else if (body !== 0 && Pages.pageDepth(body) < depth) {
    referMoved(body, depth);
    if (isReference(hash)) return putMoved(old, depth);
  }
  const node = Layout.nodeOf(depth, 0);
  if (!readNode(hash, depth, node)) {
    if (known > 0 || body !== 0) unexplained++;
    isHashAlone = true;
  } else if (load<u8>(node) === Pages.SMALL_PAGE) placeLeaf(node, depth, body);
  else if (load<u8>(node) === Pages.EXTENSION_PAGE) placeExtension(hash, node, depth, old);
  else putBranch(hash, node, depth, old);
}

function placeLeaf(node: usize, depth: i32, body: usize): void {
  const entry = Layout.scratchOf(depth, 0);
  Pages.readLeaf(Pages.smallLeavesAt(node), 0, entry);
  if (!isAccounts) keepMoved(entry, depth, body, 0, 0);
  store<u32>(Update.LEAVES, <u32>entry);
  Update.becomeLeaves(1);
}

function placeExtension(hash: usize, node: usize, depth: i32, old: usize): void {
  const end = Pages.branchDepth(node);
  const branchHash = Pages.childrenAt(node);
  Pages.placeBranch(node);
  if (!isAccounts) keepMoved(Pages.PLACE, depth, bodyOf(old), end, branchHash);
  for (let at = depth; at < end; at++) {
    Layout.setNibble(Pages.PLACE, at, Pages.pageNibble(node, at));
    old = descend(old, at + 1);
  }
  const body = bodyOf(old);
  if (body !== 0 && Pages.branchDepth(body) === end) {
    referMoved(body, end);
    if (isReference(branchHash)) {
      writeHashReference(Update.REFERENCE, hash);
      return putMoved(old, depth);
    }
  }
  const branch = Layout.nodeOf(end, 0);
  if (readNode(branchHash, end, branch)) {
    if (load<u8>(branch) !== Pages.BRANCH_PAGE) host.refuseNode(branchHash, end);
    return putBranch(hash, branch, depth, old);
  }
  // The path of an absent key may end here. No page has the nibbles of an extension without its branch.
  host.keep(Layout.rlpOf(node), <u32>(endOf(Layout.rlpOf(node)) - Layout.rlpOf(node)));
  isHashAlone = true;
}

/** @param node - the page of a branch, at `depth` or below an extension there */
function putBranch(hash: usize, node: usize, depth: i32, old: usize): void {
  const branch = Pages.branchDepth(node);
  const children = Pages.writeHead(Layout.outputOf(depth), depth, branch);
  const first = Pages.firstPathByte(branch);
  const body = bodyOf(old);
  let oldChild = body !== 0 && Pages.branchDepth(body) === branch ? Pages.childrenAt(body) : 0;
  let from = Pages.childrenAt(node);
  let at = children;
  let others = 0;
  let leaves: u32 = 0;
  for (let child = 0; child < 16; child++) {
    const begin = at;
    const next = Pages.endOfChild(from, first);
    const oldNext = oldChild === 0 ? 0 : Pages.endOfChild(oldChild, first);
    if (!Pages.isHashChild(load<u8>(from))) at = copyBytes(at, from, next);
    else if (oldChild !== 0 && isChildOf(oldChild, Pages.hashOfChild(from)))
      at = copyBytes(at, oldChild, oldNext);
    else {
      Layout.setNibble(Pages.PLACE, branch, child);
      place(Pages.hashOfChild(from), branch + 1, descend(old, branch + 1));
      at = isHashAlone ? Pages.writeHashChild(at, Pages.hashOfChild(from)) : Update.writeChild(at, branch);
    }
    const kind: u32 = load<u8>(begin);
    if (Pages.isPageChild(kind) || Pages.isHashChild(kind)) others++;
    else leaves += Pages.leafCount(begin);
    from = next;
    oldChild = oldNext;
  }
  isHashAlone = false;
  if (others === 0 && leaves <= Pages.MOST_LEAVES) return Update.takeLeaves(children, branch, depth);
  writeHashReference(Update.REFERENCE, hash);
  Update.becomePage(Pages.putPage(at, depth, numberAt(old, depth)));
}

/** @param depth - one nibble of PLACE below `old`. @returns what the older version has there */
function descend(old: usize, depth: i32): usize {
  const below = nothingAt(depth);
  const body = bodyOf(old);
  if (body === 0) {
    memory.copy(below, old, OLD_BYTES);
    return below;
  }
  const branch = Pages.branchDepth(body);
  if (depth <= branch) {
    if (Pages.pageNibble(body, depth - 1) === Layout.nibble(Pages.PLACE, depth - 1))
      memory.copy(below, old, OLD_BYTES);
    return below;
  }
  const child = Pages.childAt(body, Layout.nibble(Pages.PLACE, branch));
  const kind: u32 = load<u8>(child);
  if (Pages.isPageChild(kind))
    haveBody(below, Pages.readPage(Pages.pageNumber(child), depth), Pages.pageNumber(child));
  else if (Pages.isHashChild(kind)) haveNode(below, Pages.hashOfChild(child), depth);
  else haveLeaves(below, Pages.leavesOf(child), Pages.leafCount(child), Pages.firstPathByte(branch));
  return below;
}

function nothingAt(depth: i32): usize {
  const old = OLD + <usize>depth * OLD_BYTES;
  memory.fill(old, 0, OLD_BYTES);
  return old;
}

function bodyOf(old: usize): usize {
  return load<u32>(old);
}

/** @returns the number of its page, if that begins at `depth`; else 0 */
function numberAt(old: usize, depth: i32): f64 {
  return bodyOf(old) !== 0 && Pages.pageDepth(bodyOf(old)) === depth ? load<f64>(old, NUMBER_AT) : 0;
}

function haveNode(old: usize, hash: usize, depth: i32): void {
  const node = Layout.nodeOf(depth, 1);
  if (!readNode(hash, depth, node)) return;
  const body = load<u8>(node) === Pages.EXTENSION_PAGE ? joinBranch(node, depth) : node;
  if (body !== 0) haveBody(old, body, 0);
}

function haveBody(old: usize, body: usize, number: f64): void {
  if (load<u8>(body) === Pages.SMALL_PAGE)
    return haveLeaves(old, Pages.smallLeavesAt(body), Pages.smallCount(body), 0);
  store<u32>(old, <u32>body);
  store<f64>(old, number, NUMBER_AT);
}

function haveLeaves(old: usize, leaves: usize, count: u32, first: usize): void {
  store<u32>(old, <u32>leaves, LEAVES_AT);
  store<u32>(old, count, COUNT_AT);
  store<u32>(old, <u32>first, FIRST_AT);
}

/** Puts those leaves to LEAVES that are below PLACE. @returns how many */
function gatherLeaves(old: usize, depth: i32): u32 {
  let leaf: usize = load<u32>(old, LEAVES_AT);
  const first: usize = load<u32>(old, FIRST_AT);
  let gathered: u32 = 0;
  for (let left = load<u32>(old, COUNT_AT); left > 0; left--, leaf = Pages.endOfLeaf(leaf, first)) {
    const entry = Layout.scratchOf(depth, gathered);
    Pages.readLeaf(leaf, first, entry);
    if (Layout.firstDifference(entry, Pages.PLACE, 0, depth) === depth)
      store<u32>(Update.LEAVES + (gathered++ << 2), <u32>entry);
  }
  return gathered;
}

/** Writes the reference to a page's branch to REFERENCE, with the nibbles above it from `depth` on. */
function referMoved(body: usize, depth: i32): void {
  const branch = Pages.branchDepth(body);
  for (let at = depth; at < branch; at++) Layout.setNibble(Pages.PLACE, at, Pages.pageNibble(body, at));
  Update.gatherBranch(Pages.childrenAt(body), branch);
  beginAt(depth);
  refer(Update.REFERENCE);
}

/** Puts a page's branch as one that begins at `depth`, whose reference is REFERENCE. */
function putMoved(old: usize, depth: i32): void {
  const branch = Pages.branchDepth(bodyOf(old));
  const end = copyBytes(
    Pages.writeHead(Layout.outputOf(depth), depth, branch),
    Pages.childrenAt(bodyOf(old)),
    Pages.childAt(bodyOf(old), 16),
  );
  Update.becomePage(Pages.putPage(end, depth, numberAt(old, depth)));
}

/**
 * A branch of the older version has collapsed: the leaf or extension here took the place of another one, which had a
 * shorter path and is in no proof.
 *
 * @param path - of the leaf, or down to `end`. @param branchHash - of the extension's branch; 0: it is a leaf
 */
function keepMoved(path: usize, depth: i32, body: usize, end: i32, branchHash: usize): void {
  while (body !== 0) {
    const branch = Pages.branchDepth(body);
    const below = branch + 1;
    if (branchHash !== 0 && below >= end) return;
    for (let at = depth; at < branch; at++)
      if (Pages.pageNibble(body, at) !== Layout.nibble(path, at)) return;
    const child = Pages.childAt(body, Layout.nibble(path, branch));
    const kind: u32 = load<u8>(child);
    if (Pages.isHashChild(kind)) {
      if (branchHash === 0) becomeLeaf(path, below);
      else {
        writeHashReference(CHILD_REFERENCE, branchHash);
        becomeExtension(path, below, end, CHILD_REFERENCE);
      }
      const bytes = encodeTop();
      keccak256(Layout.NODE, bytes, HASH);
      if (Layout.sameWord(HASH, Pages.hashOfChild(child))) host.keep(Layout.NODE, bytes);
      return;
    }
    if (!Pages.isPageChild(kind)) return;
    body = Pages.readPage(Pages.pageNumber(child), below);
    depth = below;
  }
}

function copyBytes(to: usize, from: usize, end: usize): usize {
  memory.copy(to, from, end - from);
  return to + (end - from);
}

function isChildOf(child: usize, hash: usize): bool {
  if (load<u8>(child) === 0) return false;
  Pages.copyChildReference(CHILD_REFERENCE, child);
  return isHash(CHILD_REFERENCE) && Layout.sameWord(CHILD_REFERENCE + 1, hash);
}

function isReference(hash: usize): bool {
  return isHash(Update.REFERENCE) && Layout.sameWord(Update.REFERENCE + 1, hash);
}
