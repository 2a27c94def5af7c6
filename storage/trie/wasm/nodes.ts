/**
 * Nodes of which only the hash is in a page, where their RLP is known otherwise. Each is made a page in memory:
 *
 *   branch      a branch page whose children are known by their hashes, or inlined leaves
 *   leaf        a small page with one leaf
 *   extension   an extension page: the branch below it is another node
 *
 * Their RLP has the right hash, but may be anything: all of it is checked.
 */
import {isAccounts, storeAccount} from "./account";
import * as host from "./host";
import * as Layout from "./layout";
import * as Pages from "./pages";
import {contentOf, endOf, isEmpty, isHash, LIST} from "./rlp";

const LEAF: usize = memory.data(192, 16);
/** A slot's RLP has as many bytes at most. */
const MAX_SLOT_BYTES: u32 = 33;
const BRANCH_ITEMS = 17;

/** Makes a page of the node with this hash, at PLACE. @param to - nodeOf. @returns false: the node is not known */
export function readNode(hash: usize, depth: i32, to: usize): bool {
  const node = Layout.rlpOf(to);
  const bytes = host.node(hash, node);
  if (bytes === 0) return false;
  if (!writeNode(to, node, bytes, depth)) host.refuseNode(hash, depth);
  return true;
}

/** @param extension - an extension page at PLACE. @returns a page of it and its branch; 0: the branch is not known */
export function joinBranch(extension: usize, depth: i32): usize {
  const branch = Pages.branchDepth(extension);
  const node = Layout.nodeOf(branch, 1);
  if (!readNode(Pages.childrenAt(extension), branch, node)) return 0;
  if (load<u8>(node) !== Pages.BRANCH_PAGE) host.refuseNode(Pages.childrenAt(extension), branch);
  const from = Pages.childrenAt(node);
  const joined = Layout.nodeOf(depth, 1);
  memory.copy(Pages.writeHead(joined, depth, branch), from, Pages.childAt(node, 16) - from);
  return joined;
}

/** @returns false: it is no node at this depth */
function writeNode(to: usize, node: usize, bytes: u32, depth: i32): bool {
  const items = countItems(node, node + bytes);
  if (items === BRANCH_ITEMS) return depth < Layout.PATH_NIBBLES && writeBranch(to, node, depth);
  return items === 2 && (writeLeafPage(to, node, depth) || writeExtension(to, node, depth));
}

/** @returns 0: it is no list that ends at `end` */
function countItems(list: usize, end: usize): i32 {
  if (load<u8>(list) < LIST || endOf(list) !== end) return 0;
  let items = 0;
  for (let at = contentOf(list); at < end; items++) {
    const next = endOf(at);
    if (next <= at || next > end) return 0;
    at = next;
  }
  return items;
}

function writeBranch(to: usize, node: usize, depth: i32): bool {
  const first = Pages.firstPathByte(depth);
  let at = Pages.writeHead(to, depth, depth);
  let item = contentOf(node);
  for (let child = 0; child < 16; child++, item = endOf(item)) {
    if (isEmpty(item)) store<u8>(at++, 0);
    else if (isHash(item)) at = Pages.writeHashChild(at, item + 1);
    else {
      Layout.setNibble(Pages.PLACE, depth, child);
      // No two paths are so alike that another node than a leaf is this short.
      if (!Pages.isShort(item) || countItems(item, endOf(item)) !== 2 || !readLeafNode(item, depth + 1))
        return false;
      at = Pages.writeLeaf(Pages.writeLeafChild(at, 1, item), LEAF, first);
    }
  }
  return isEmpty(item);
}

function writeLeafPage(to: usize, node: usize, depth: i32): bool {
  if (!readLeafNode(node, depth)) return false;
  store<u8>(to, Pages.SMALL_PAGE);
  store<u8>(to, 1, 1);
  Pages.writeLeaf(Pages.smallLeavesAt(to), LEAF, 0);
  return true;
}

function writeExtension(to: usize, node: usize, depth: i32): bool {
  const path = contentOf(node);
  const child = endOf(path);
  const end = depth + pathNibbles(path);
  if (isLeafPath(path) || !isHash(child) || end === depth || end >= Layout.PATH_NIBBLES) return false;
  placePath(Pages.PLACE, path, depth);
  Layout.copyWord(Pages.writeHead(to, depth, end), child + 1);
  store<u8>(to, Pages.EXTENSION_PAGE);
  return true;
}

/** Makes LEAF the entry of a leaf at PLACE. */
function readLeafNode(node: usize, depth: i32): bool {
  const path = contentOf(node);
  const item = endOf(path);
  if (load<u8>(path) >= LIST || load<u8>(item) >= LIST) return false;
  if (!isLeafPath(path) || depth + pathNibbles(path) !== Layout.PATH_NIBBLES) return false;
  Layout.copyWord(LEAF, Pages.PLACE);
  placePath(LEAF, path, depth);
  const value = contentOf(item);
  let bytes = <u32>(endOf(item) - value);
  if (isAccounts) {
    const end = storeAccount(LEAF + Layout.ENTRY_VALUE, value, bytes, host.storage(LEAF));
    if (end === 0) return false;
    bytes = <u32>(end - LEAF - Layout.ENTRY_VALUE);
  } else {
    if (bytes === 0 || bytes > MAX_SLOT_BYTES) return false;
    memory.copy(LEAF + Layout.ENTRY_VALUE, value, bytes);
  }
  store<i32>(LEAF, Layout.PATH_NIBBLES, Layout.ENTRY_NIBBLES);
  store<u32>(LEAF, bytes, Layout.ENTRY_VALUE_BYTES);
  return true;
}

function isLeafPath(path: usize): bool {
  return (load<u8>(contentOf(path)) & 0x20) !== 0;
}

/** @returns a number that no path has if it is not one */
function pathNibbles(path: usize): i32 {
  const content = contentOf(path);
  const flags = load<u8>(content);
  const bytes = <i32>(endOf(path) - content);
  const isPath = load<u8>(path) < LIST && bytes > 0 && bytes <= 33 && flags < 0x40;
  return isPath ? 2 * (bytes - 1) + ((flags >> 4) & 1) : Layout.PATH_NIBBLES + 1;
}

function placePath(to: usize, path: usize, depth: i32): void {
  const content = contentOf(path);
  const from = load<u8>(content) & 0x10 ? 1 : 2;
  for (let i = 0, nibbles = pathNibbles(path); i < nibbles; i++)
    Layout.setNibble(to, depth + i, Layout.nibble(content, from + i));
}
