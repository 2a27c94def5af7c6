/** Finding a path in a trie, and the nodes that prove it. */
import {setAccounts} from "./account";
import {beginCapture, beginRun, endRun, joinsBranches} from "./captured";
import {becomeExtension, beginAt, encodeTop} from "./change";
import {makeLeaves} from "./check";
import * as host from "./host";
import {copyWord, firstDifference, nibble, nodeOf, PATH, ROOT, sameBytes, setNibble} from "./layout";
import {joinBranch, readNode} from "./nodes";
import * as Pages from "./pages";
import {writeHashReference} from "./rlp";
import {gatherBranch, REFERENCE} from "./update";

let bytes: u32 = 0;

/** The length of the value that was found. */
export function foundBytes(): u32 {
  return bytes;
}

/** @param root - page; 0: an empty trie; below 0: its root is ROOT. @returns where PATH's value is until the next call; 0: nowhere */
export function find(root: f64, accounts: bool): usize {
  return follow(root, accounts, false);
}

/** As `find`, and captures the nodes. @param joins - also the branch below an extension where the path leaves */
export function walk(root: f64, accounts: bool, joins: bool): usize {
  beginCapture(joins);
  return follow(root, accounts, true);
}

function follow(root: f64, accounts: bool, captures: bool): usize {
  setAccounts(accounts);
  copyWord(Pages.PLACE, PATH);
  let depth = 0;
  let page = root < 0 ? readKnown(ROOT, 0) : root === 0 ? 0 : Pages.readPage(root, 0);
  while (page !== 0) {
    if (load<u8>(page) === Pages.SMALL_PAGE)
      return findLeaf(Pages.smallLeavesAt(page), Pages.smallCount(page), 0, depth, captures);
    Pages.placeBranch(page);
    const branch = Pages.branchDepth(page);
    const isOnPath = firstDifference(Pages.PLACE, PATH, depth, branch) === branch;
    if (load<u8>(page) === Pages.EXTENSION_PAGE) {
      const joined = joinBranch(page, depth);
      if (joined === 0 && (isOnPath || (captures && joinsBranches))) host.miss(Pages.childrenAt(page));
      if (joined === 0) {
        if (captures) captureExtension(Pages.childrenAt(page), depth, branch);
        return 0;
      }
      page = joined;
    }
    const first = Pages.firstPathByte(branch);
    if (captures) captureBranch(Pages.childrenAt(page), depth, branch);
    if (!isOnPath) return 0;
    const child = Pages.childAt(page, nibble(PATH, branch));
    const kind: u32 = load<u8>(child);
    depth = branch + 1;
    if (!Pages.isPageChild(kind) && !Pages.isHashChild(kind))
      return kind === 0 ? 0 : findLeaf(Pages.leavesOf(child), Pages.leafCount(child), first, depth, captures);
    setNibble(Pages.PLACE, branch, nibble(PATH, branch));
    page = Pages.isPageChild(kind)
      ? Pages.readPage(Pages.pageNumber(child), depth)
      : readKnown(Pages.hashOfChild(child), depth);
  }
  return 0;
}

/** @returns a page of the node with this hash, which is not in a page of its own */
function readKnown(hash: usize, depth: i32): usize {
  const node = nodeOf(depth, 0);
  if (!readNode(hash, depth, node)) host.miss(hash);
  return node;
}

function captureExtension(branchHash: usize, depth: i32, end: i32): void {
  const before = beginRun();
  writeHashReference(REFERENCE, branchHash);
  becomeExtension(Pages.PLACE, depth, end, REFERENCE);
  encodeTop();
  endRun(before);
}

function captureBranch(children: usize, depth: i32, branch: i32): void {
  const before = beginRun();
  gatherBranch(children, branch);
  beginAt(depth);
  encodeTop();
  endRun(before);
}

function findLeaf(leaves: usize, count: u32, first: usize, depth: i32, captures: bool): usize {
  if (captures) captureLeaves(leaves, count, first, depth);
  for (let i: u32 = 0; i < count; i++) {
    bytes = load<u8>(leaves);
    if (sameBytes(leaves + 1, PATH + first, 32 - first) === 32 - first) return Pages.valueAt(leaves, first);
    leaves = Pages.endOfLeaf(leaves, first);
  }
  return 0;
}

function captureLeaves(leaves: usize, count: u32, first: usize, depth: i32): void {
  copyWord(Pages.PLACE, PATH);
  const before = beginRun();
  makeLeaves(leaves, count, first, depth);
  encodeTop();
  endRun(before);
}
