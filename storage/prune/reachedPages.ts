/**
 * The pages of a block's trees within a range of page numbers. A page has a lower number than its parent, so pages below the
 * range are never read.
 */
import type {BlockRecord} from "../block/blockRecord.ts";
import {rootLevel} from "../page/geometry.ts";
import {DIRECTORY, DIRECTORY_CHILDREN, directoryChild} from "../page/indexPage.ts";
import {childCount, childPage} from "../page/innerPage.ts";
import {leafAt, leafCount} from "../page/leafPage.ts";
import type {PageReader} from "../page/pages.ts";
import {storageTreeOf} from "../tree/account.ts";
import type {TreeRoot} from "../tree/treeRoot.ts";

/** Page numbers from `since` to below `until`, one bit each. */
export class PageMarks {
  private readonly bits: Uint8Array;

  constructor(
    readonly since: number,
    readonly until: number,
  ) {
    this.bits = new Uint8Array(Math.ceil(Math.max(0, until - since) / 8));
  }

  /** Marks a page, if it is in the range. */
  mark(page: number): void {
    if (page < this.since || page >= this.until) return;
    const at = page - this.since;
    const byte = Math.floor(at / 8);
    this.bits[byte] = (this.bits[byte] as number) | (1 << (at % 8));
  }

  /** @param page - in the range */
  has(page: number): boolean {
    const at = page - this.since;
    return ((this.bits[Math.floor(at / 8)] as number) & (1 << (at % 8))) !== 0;
  }
}

type Marking = Generator<undefined, undefined>;

/**
 * Marks the block's pages that are in the range of `marks`.
 *
 * @yields after each page that was read
 * @throws StoreError RECORD_MISSING, RECORD_DAMAGED
 */
export function* markReached(pages: PageReader, {accounts}: BlockRecord, marks: PageMarks): Marking {
  yield* markTree(pages, accounts, true, marks);
  return undefined;
}

function* markTree(pages: PageReader, tree: TreeRoot, isAccounts: boolean, marks: PageMarks): Marking {
  const {rootPage, indexPage, nextFreeNode} = tree;
  // Page 0 means "no page", and is below every range.
  if (rootPage >= marks.since) yield* markPages(pages, rootPage, rootLevel(nextFreeNode), isAccounts, marks);
  if (indexPage >= marks.since) yield* markIndex(pages, indexPage, marks);
  return undefined;
}

function* markPages(
  pages: PageReader,
  page: number,
  level: number,
  isAccounts: boolean,
  marks: PageMarks,
): Marking {
  marks.mark(page);
  if (level === 0 && !isAccounts) return undefined;
  const body = pages.read(page);
  yield undefined;
  if (level > 0)
    for (let position = 0; position < childCount(body); position++) {
      const child = childPage(body, position);
      if (child >= marks.since) yield* markPages(pages, child, level - 1, isAccounts, marks);
    }
  else
    for (let position = 0; position < leafCount(body); position++) {
      const tree = storageTreeOf(leafAt(body, position));
      if (tree !== undefined) yield* markTree(pages, tree, false, marks);
    }
  return undefined;
}

function* markIndex(pages: PageReader, page: number, marks: PageMarks): Marking {
  marks.mark(page);
  const body = pages.read(page);
  yield undefined;
  if (body[0] !== DIRECTORY) return undefined;
  for (let nibble = 0; nibble < DIRECTORY_CHILDREN; nibble++) {
    const child = directoryChild(body, nibble);
    if (child >= marks.since) yield* markIndex(pages, child, marks);
  }
  return undefined;
}
