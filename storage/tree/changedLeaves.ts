/**
 * The leaves by which two versions of one tree differ.
 *
 *   before    a ── b ── c            a', c' replace a, c: both trees have b, so all below it is skipped
 *   after     a'── b ── c'
 *
 * A page that two versions share has the same leaves in both. So only pages that differ are read, and the cost is that of what
 * changed between the two.
 */
import {childrenPerPage, LEAVES_PER_PAGE, rootLevel} from "../page/geometry.ts";
import {childCount, childPage, INNER_PAGE} from "../page/innerPage.ts";
import {LEAF_PAGE, type Leaf, leafAt} from "../page/leafPage.ts";
import {expectKind, type PageReader} from "../page/pages.ts";
import type {TreeRoot} from "./treeRoot.ts";

interface ChangedLeaf {
  readonly leafIndex: number;
  /** undefined: the tree has no leaf there. Its bytes are views of its page. */
  readonly before: Leaf | undefined;
  readonly after: Leaf | undefined;
}

/** A sub-tree of one version. A tree that was smaller has its root further down, on the left spine. */
interface SubTree {
  readonly page: number;
  readonly level: number;
}

/**
 * Leaves of pages that differ, in the order of their indexes, also head and tail, and also those that are the same in both.
 *
 * @param before, after - undefined: no tree, and so no leaf
 * @throws StoreError RECORD_MISSING, RECORD_DAMAGED
 */
export function* changedLeaves(
  pages: PageReader,
  before: TreeRoot | undefined,
  after: TreeRoot | undefined,
): Generator<ChangedLeaf, undefined> {
  const [one, other] = [subTreeOf(before), subTreeOf(after)];
  yield* walk(pages, one, other, Math.max(one?.level ?? 0, other?.level ?? 0), 0);
  return undefined;
}

function subTreeOf(tree: TreeRoot | undefined): SubTree | undefined {
  if (tree === undefined || tree.rootPage === 0) return undefined;
  return {page: tree.rootPage, level: rootLevel(tree.nextFreeNode)};
}

/** @param level - that of the place. @param pageIndex - its number in that level */
function* walk(
  pages: PageReader,
  before: SubTree | undefined,
  after: SubTree | undefined,
  level: number,
  pageIndex: number,
): Generator<ChangedLeaf, undefined> {
  if (before?.page === after?.page) return undefined;
  if (level > 0) {
    const [one, other] = [childrenOf(pages, before, level), childrenOf(pages, after, level)];
    const first = pageIndex * childrenPerPage(level);
    for (let position = 0; position < Math.max(one.length, other.length); position++) {
      const [left, right] = [one[position], other[position]];
      if (left === right) continue;
      yield* walk(
        pages,
        childOf(before, level, left),
        childOf(after, level, right),
        level - 1,
        first + position,
      );
    }
    return undefined;
  }
  const [one, other] = [readLeafPage(pages, before), readLeafPage(pages, after)];
  for (let position = 0; position < LEAVES_PER_PAGE; position++) {
    const leafIndex = pageIndex * LEAVES_PER_PAGE + position;
    const leaves = {before: one && leafAt(one, position), after: other && leafAt(other, position)};
    if (leaves.before !== undefined || leaves.after !== undefined) yield {leafIndex, ...leaves};
  }
  return undefined;
}

/** @returns the numbers of its pages, without an object for each: most are the same in both versions */
function childrenOf(pages: PageReader, tree: SubTree | undefined, level: number): readonly number[] {
  if (tree === undefined) return [];
  if (tree.level < level) return [tree.page];
  const body = expectKind(pages.read(tree.page), INNER_PAGE, tree.page);
  return Array.from({length: childCount(body)}, (_, position) => childPage(body, position));
}

function childOf(tree: SubTree | undefined, level: number, page: number | undefined): SubTree | undefined {
  return tree === undefined || page === undefined
    ? undefined
    : {page, level: Math.min(tree.level, level - 1)};
}

function readLeafPage(pages: PageReader, tree: SubTree | undefined): Buffer | undefined {
  return tree && expectKind(pages.read(tree.page), LEAF_PAGE, tree.page);
}
