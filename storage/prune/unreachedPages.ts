/**
 * The pages that no block leads to any more once the blocks of a run are pruned.
 *
 *   blocks         p: nearest kept below (if any) | ... | first ... next - 1 | next: kept
 *   page numbers   below p's next page: p reaches them if `first` or a younger block does
 *                  up to `first`'s own:  replaced between `first` and `next`               replacedPages.ts
 *                  from there to `next`'s own: all that `next` does not reach
 *
 * The second part needs no tree of a pruned block. It also finds pages that never belonged to a block's final trees:
 * those of a block too large for the writer's memory. The first part must be removed first, because it is reached
 * through pages of the second.
 *
 * If the removal stops anywhere, the walk can start again: it then gives the pages that are still there.
 */
import type {StateReader} from "../block/stateReader.ts";
import {FIRST_PAGE} from "../record/layout.ts";
import type {PruneRun} from "./pruneRecord.ts";
import {type PageWalk, ReplacedPages} from "./replacedPages.ts";

/** Page numbers from `since` to below `until`, one bit each. */
class PageMarks {
  private readonly bits: Uint8Array;

  constructor(
    readonly since: number,
    readonly until: number,
  ) {
    this.bits = new Uint8Array(Math.ceil(Math.max(0, until - since) / 8));
  }

  mark(page: number): void {
    if (page < this.since || page >= this.until) return;
    const at = page - this.since;
    const byte = Math.floor(at / 8);
    this.bits[byte] = (this.bits[byte] as number) | (1 << (at % 8));
  }

  has(page: number): boolean {
    const at = page - this.since;
    return ((this.bits[Math.floor(at / 8)] as number) & (1 << (at % 8))) !== 0;
  }
}

/**
 * Page numbers in the order of their removal. Takes one bit of memory for each page that the run's blocks wrote.
 *
 * @param run - all its blocks are pruned, so no reader enters their trees any more
 * @throws StoreError RECORD_MISSING, RECORD_DAMAGED
 */
export async function unreachedPages(reader: StateReader, {first, next}: PruneRun): Promise<PageWalk> {
  // Below the earliest kept block LevelDB would search through all the keys that were removed.
  const kept = first < reader.readEarliest() ? undefined : await reader.unprunedBelow(first);
  const keptUntil = kept === undefined ? FIRST_PAGE : reader.blockOrThrow(kept).nextPage;
  const since = readSince(reader, first);
  const young = reader.blockOrThrow(next);
  const marks = new PageMarks(since, reader.headerRecordOrThrow(next - 1).nextPage);
  // If the block just below is kept, it reaches all older pages that `first` does.
  const replaced =
    keptUntil < since
      ? new ReplacedPages(reader.pages, keptUntil).walk(reader.headerRecordOrThrow(first), young)
      : undefined;
  return walk(replaced, new ReplacedPages(reader.pages, since).walk(young, undefined), marks);
}

function readSince(reader: StateReader, first: number): number {
  // A slice may begin with pages that were replaced before its first block was complete.
  if (first === 0 || (first === reader.firstBlock && reader.isSliced)) return FIRST_PAGE;
  // A first block that was built from a full state uses all of its pages. Only replaced ones are removed.
  return reader.headerRecordOrThrow(first === reader.firstBlock ? first : first - 1).nextPage;
}

function* walk(replaced: PageWalk | undefined, reached: PageWalk, marks: PageMarks): PageWalk {
  if (replaced !== undefined)
    for (const page of replaced) {
      if (page !== undefined) marks.mark(page);
      yield page;
    }
  if (marks.since >= marks.until) return undefined;
  for (const page of reached) {
    if (page === undefined) yield undefined;
    else marks.mark(page);
  }
  for (let page = marks.since; page < marks.until; page++) yield marks.has(page) ? undefined : page;
  return undefined;
}
