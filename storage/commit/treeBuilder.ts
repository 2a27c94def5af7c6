/**
 * Builds a tree from all of its leaves. Each page is hashed and written once: leaf pages in the order of their indexes,
 * an inner page as soon as its children are complete, and then the index. The order of the hKeys gives the links.
 */

import {leavesPerPage, SMALL_TREE} from "../page/geometry.ts";
import {
  BUCKET_ENTRIES,
  bytesToTellApart,
  DIRECTORY_CHILDREN,
  encodeBucket,
  encodeDirectory,
  nibbleAt,
} from "../page/indexPage.ts";
import {LeafPageDraft} from "../page/pageDraft.ts";
import {FIRST_FREE_NODE, HEAD_INDEX, TAIL_INDEX, ZERO_WORD} from "../tree/emptyTree.ts";
import {newTreeRoot, type TreeRoot} from "../tree/treeRoot.ts";
import type {LeafTable, TabledLeaf} from "./leafTable.ts";
import {StoredPages, type TreeContext, TreeSeal} from "./treeSeal.ts";

const LEAVES_AT_ONCE = 512;
/** Leaf pages that are in memory at a time, and pages of each level above: a multiple of the children of every page. */
const PAGES_AT_ONCE = 64;

interface TreeBuild {
  readonly context: TreeContext;
  readonly leaves: LeafTable;
  /** Of `leaves`: their positions, ascending by hKey. */
  readonly order: Uint32Array;
  /** @param value - as a leaf page has it. @returns 32 bytes */
  readonly hashValue: (value: Uint8Array) => Uint8Array;
  /** Called with each leaf, in the order of their indexes. It may throw. */
  readonly onLeaf: (leaf: TabledLeaf) => void;
  /** Awaited from time to time. It may throw to end the work. */
  readonly flushIfFull: () => Promise<void>;
}

export async function buildTree(build: TreeBuild): Promise<TreeRoot> {
  const {context, leaves} = build;
  const {nextFreeNode} = leaves;
  if (nextFreeNode === FIRST_FREE_NODE) return newTreeRoot(context.empty);
  const sealed = await buildPages(build);
  const indexPage = nextFreeNode > SMALL_TREE ? await buildIndex(build, 0, leaves.count, 0) : 0;
  return {nextFreeNode, indexPage, ...sealed};
}

async function buildPages({context, leaves, order, hashValue, onLeaf, flushIfFull}: TreeBuild) {
  const {nextFreeNode, count} = leaves;
  // The rank of each leaf in the order of hKeys, by position.
  const ranks = new Uint32Array(count);
  for (let rank = 0; rank < count; rank++) ranks[order[rank] as number] = rank;
  /** The leaf index at a rank; the head is before the first, the tail after the last. */
  const indexAt = (rank: number): number => {
    if (rank < 0) return HEAD_INDEX;
    return rank === count ? TAIL_INDEX : leaves.leafIndexAt(order[rank] as number);
  };
  const seal = new TreeSeal(
    context,
    new StoredPages(context.pages, newTreeRoot(context.empty)),
    PAGES_AT_ONCE,
  );
  const tabled = leaves.leaves();
  let leaf = tabled.next().value;
  let position = 0;
  const width = leavesPerPage(nextFreeNode);
  for (let first = 0; first < nextFreeNode; first += width) {
    const page = new LeafPageDraft(first / width, width);
    const end = Math.min(first + width, nextFreeNode);
    for (let leafIndex = first; leafIndex < end; leafIndex++) {
      if (leafIndex === HEAD_INDEX) page.setLeaf(leafIndex, sentinel(HEAD_INDEX, indexAt(0), ZERO_WORD));
      else if (leafIndex === TAIL_INDEX)
        page.setLeaf(leafIndex, sentinel(indexAt(count - 1), TAIL_INDEX, context.suite.tailHKey));
      else if (leaf?.leafIndex !== leafIndex) page.setLeaf(leafIndex, undefined);
      else {
        onLeaf(leaf);
        const rank = ranks[position++] as number;
        const {hKey, value} = leaf;
        const [prev, next] = [indexAt(rank - 1), indexAt(rank + 1)];
        page.setLeaf(leafIndex, {prev, next, hKey, hVal: hashValue(value), value});
        leaf = tabled.next().value;
      }
    }
    seal.add(page);
    if (first % LEAVES_AT_ONCE === 0) await flushIfFull();
  }
  return seal.finish(nextFreeNode);
}

function sentinel(prev: number, next: number, hKey: Uint8Array) {
  return {prev, next, hKey, hVal: ZERO_WORD, value: new Uint8Array(0)};
}

/** Of the leaves with the ranks `from` to before `to`, whose keys share `depth` nibbles. @returns 0 for no key */
async function buildIndex(build: TreeBuild, from: number, to: number, depth: number): Promise<number> {
  const {context, leaves, order, flushIfFull} = build;
  if (from === to) return 0;
  if (to - from <= BUCKET_ENTRIES) {
    const entries = Array.from(order.subarray(from, to), position => ({
      hKey: leaves.hKeyAt(position),
      leafIndex: leaves.leafIndexAt(position),
    }));
    return context.pages.putPage(spare => encodeBucket(entries, bytesToTellApart(entries), spare));
  }
  await flushIfFull();
  const children: number[] = [];
  let start = from;
  for (let nibble = 0; nibble < DIRECTORY_CHILDREN; nibble++) {
    let end = start;
    while (end < to && nibbleAt(leaves.hKeyAt(order[end] as number), depth) === nibble) end++;
    children.push(await buildIndex(build, start, end, depth + 1));
    start = end;
  }
  return context.pages.putPage(spare => encodeDirectory(children, spare));
}
