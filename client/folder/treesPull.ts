/** Pulls complete trees, and writes their verified ranges as rows. */
import {decodeHex} from "../bytes/hex.ts";
import {NEW_TREE_POSITIONS} from "../leaves/leafRange.ts";
import type {TreeLeaf} from "../leaves/treeLeaf.ts";
import {ACCOUNTS} from "../pull/places.ts";
import {LEAVES_PER_RANGE, pullState} from "../pull/pullState.ts";
import type {PulledRange} from "../pull/treeRanges.ts";
import {accountRow} from "./leafRows.ts";
import type {PullWork} from "./pullPlace.ts";

/** A larger tree takes long enough for a progress bar of its own. */
const LARGE_TREE_RANGES = 16;
/** `0x` and 8 digits of an address: the progress bar has one line. */
const SHOWN_CHARACTERS = 10;

/** @param names - what pullState takes as `tree`. @throws what pullState throws, after all ranges before */
export async function pullTrees(work: PullWork, names: readonly string[]): Promise<void> {
  for (const tree of names.slice(work.place.trees)) {
    const {client, block, signal, leavesPerRange} = work;
    const {cursor} = work.place;
    const ranges = pullState(client, {tree, block, signal, leavesPerRange, cursor});
    for await (const range of ranges) writeRange(work, range);
    const {cursor: _, ...place} = work.place;
    work.place = {...place, trees: place.trees + 1};
  }
}

function writeRange(work: PullWork, range: PulledRange): void {
  const {writer} = work;
  const {leaves, end, nextFreeNode, cursor} = range;
  const before = work.place.leaves;
  for (const leaf of leaves) {
    // If parts were finished in the middle of this range, some of its leaves are written already.
    if (leaf.leafIndex <= work.place.lastLeaf || !addLeaf(work, range, leaf)) continue;
    const place = {...work.place, lastLeaf: leaf.leafIndex, leaves: work.place.leaves + 1};
    work.place = place;
    if (writer.isDue) writer.finishParts(place);
  }
  const added = work.place.leaves - before;
  work.place = end === nextFreeNode ? endTree(work, range) : {...work.place, cursor};
  if (writer.isDue) writer.finishParts(work.place);
  showRange(work, range, added);
}

function addLeaf({writer, suite}: PullWork, {account, tree}: PulledRange, leaf: TreeLeaf): boolean {
  if (leaf.role === "account") writer.add("accounts", accountRow(suite, leaf));
  else if (leaf.role === "slot" && account !== undefined) {
    const {leafIndex, slot, value} = leaf;
    writer.add("slots", {accountIndex: account.leafIndex, address: decodeHex(tree), leafIndex, slot, value});
  } else return false;
  return true;
}

function endTree(
  {writer, place}: PullWork,
  {tree, account, nextFreeNode, cursor}: PulledRange,
): PullWork["place"] {
  const {leaves} = place;
  const next = {...place, cursor, lastLeaf: -1, leaves: 0};
  if (tree === ACCOUNTS) return {...next, accountTree: {nextFreeNode, leaves}};
  if (account !== undefined && nextFreeNode > NEW_TREE_POSITIONS) {
    const root = decodeHex(account.storageRoot);
    writer.add("trees", {
      accountIndex: account.leafIndex,
      address: decodeHex(tree),
      root,
      nextFreeNode,
      leaves,
    });
  }
  return next;
}

/** The number of all slots is not known in advance: progress counts accounts, and within a large tree its leaves. */
function showRange(
  {progress, place, leavesPerRange = LEAVES_PER_RANGE}: PullWork,
  {tree, account, end, nextFreeNode}: PulledRange,
  rows: number,
): void {
  const {accountTree} = place;
  const isSmall = nextFreeNode <= LARGE_TREE_RANGES * leavesPerRange;
  if (tree !== ACCOUNTS && isSmall && accountTree !== undefined && account !== undefined)
    progress.show(
      "storage",
      {done: account.leafIndex, total: accountTree.nextFreeNode, unit: "accounts"},
      rows,
    );
  else {
    const phase = tree === ACCOUNTS ? tree : `storage of ${tree.slice(0, SHOWN_CHARACTERS)}`;
    progress.show(phase, {done: end, total: nextFreeNode, unit: "leaves"}, rows);
  }
}
