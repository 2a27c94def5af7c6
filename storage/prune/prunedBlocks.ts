/**
 * Which blocks are pruned, as ranges in memory: one range for `--history N`, one per kept finalization otherwise. A
 * range may begin before the first block of the store.
 *
 *   blocks   0 ..... a | b ... c | d ..... e | f ...        froms: 0, d    tos: a, e
 *            pruned    | kept    | pruned    | kept
 */

import {countBelow} from "../bisect.ts";
import type {StateReader} from "../block/stateReader.ts";
import {StoreError} from "../errors.ts";

export interface NearestUnpruned {
  /** The block is in a gap of a store of slices. */
  readonly isMissed: boolean;
  readonly below: number | undefined;
  readonly above: number;
}

export type PrunedView = Pick<
  PrunedBlocks,
  "has" | "unprunedFrom" | "unprunedRanges" | "nearest" | "gapsFrom"
>;

export class PrunedBlocks {
  /** First and last block of each range, ascending. Ranges do not touch. */
  private readonly froms: number[] = [];
  private readonly tos: number[] = [];
  /** Those of the ranges that a store of slices never had the states of. */
  private gaps: {readonly from: number; readonly to: number}[] = [];

  /** @param first - the first block of the store: blocks before it were never stored */
  constructor(private first = 0) {}

  /**
   * Where pruned and kept blocks meet, both records must be there. So must those of the blocks that ended a
   * finalization: a kept one whose record is gone would be taken for pruned. @throws StoreError RECORD_MISSING,
   * RECORD_DAMAGED, STORE_DAMAGED
   */
  static async read(reader: StateReader): Promise<PrunedBlocks> {
    const pruned = new PrunedBlocks(reader.firstBlock);
    const earliest = reader.readEarliest();
    if (earliest > 0) {
      requireRecord(earliest, reader.readBlock(earliest));
      if (earliest > reader.firstBlock) requireRecord(earliest - 1, reader.readPruned(earliest - 1));
      pruned.add(0, earliest - 1);
    }
    for (let kept = earliest; ; ) {
      const from = await reader.prunedFrom(kept);
      if (from === undefined) return pruned;
      if (kept === earliest) requireEnds(reader, earliest);
      requireRecord(from - 1, reader.readBlock(from - 1));
      const next = await reader.unprunedFrom(from);
      if (next === undefined) return pruned;
      const last = requireRecord(next - 1, reader.readPruned(next - 1));
      if (reader.isMissed(last)) pruned.addMissed(from, next - 1);
      else pruned.add(from, next - 1);
      kept = next;
    }
  }

  /** The store has got its first block, or another one. */
  begin(first: number): void {
    this.first = first;
    if (first > 0) this.add(0, first - 1);
  }

  has(block: number): boolean {
    if (block < this.first) return false;
    const at = this.rangeAbove(block) - 1;
    return at >= 0 && block <= (this.tos[at] as number);
  }

  /** The first block at or above `from` that is not pruned; there may be no such block yet. */
  unprunedFrom(from: number): number {
    const at = this.rangeAbove(from) - 1;
    return at >= 0 && from <= (this.tos[at] as number) ? (this.tos[at] as number) + 1 : from;
  }

  nearest(block: number): NearestUnpruned {
    const at = this.rangeAbove(block) - 1;
    const isIn = at >= 0 && block <= (this.tos[at] as number);
    const below = (isIn ? (this.froms[at] as number) : block) - 1;
    const isMissed = this.gaps.some(({from, to}) => from <= block && block <= to);
    return {isMissed, below: below < 0 ? undefined : below, above: this.unprunedFrom(block + 1)};
  }

  /** The gaps of a store of slices above `earliest`, the oldest block that is not pruned. Ascending. */
  gapsFrom(earliest: number): readonly {readonly from: number; readonly to: number}[] {
    return this.gaps.filter(({from}) => from > earliest);
  }

  /** The ranges of blocks up to `last` that are not pruned: the newest `limit`, and how many there are. */
  unprunedRanges(
    last: number,
    limit: number,
  ): {ranges: (readonly [from: number, to: number])[]; count: number} {
    const ranges: (readonly [number, number])[] = [];
    let to = last;
    for (let at = this.rangeAbove(last) - 1; at >= -1 && to >= 0 && ranges.length < limit; at--) {
      const from = at < 0 ? 0 : (this.tos[at] as number) + 1;
      if (from <= to) ranges.push([from, to]);
      to = (this.froms[at] ?? 0) - 1;
    }
    // One above each pruned range, and one below the first.
    const above = this.rangeAbove(last) - (this.has(last) ? 1 : 0);
    return {ranges, count: above + (this.froms[0] === 0 ? 0 : 1)};
  }

  add(from: number, to: number): void {
    let first = this.rangeAbove(from);
    // A range that ends at or just before `from` is lengthened.
    if (first > 0 && (this.tos[first - 1] as number) >= from - 1) first--;
    let end = first;
    while (end < this.froms.length && (this.froms[end] as number) <= to + 1) end++;
    const low = end > first ? Math.min(from, this.froms[first] as number) : from;
    const high = end > first ? Math.max(to, this.tos[end - 1] as number) : to;
    this.froms.splice(first, end - first, low);
    this.tos.splice(first, end - first, high);
  }

  /** Blocks above all others, of which a store of slices has the headers only. */
  addMissed(from: number, to: number): void {
    this.add(from, to);
    this.gaps.push({from, to});
  }

  /** Blocks above `last` were removed. */
  cut(last: number): void {
    this.gaps = this.gaps
      .filter(({from}) => from <= last)
      .map(({from, to}) => ({from, to: Math.min(to, last)}));
    const count = this.rangeAbove(last);
    this.froms.length = count;
    this.tos.length = count;
    if ((this.tos[count - 1] ?? -1) > last) this.tos[count - 1] = last;
  }

  private rangeAbove(block: number): number {
    return countBelow(this.froms.length, at => (this.froms[at] as number) <= block);
  }
}

/** Only `--history finalizations` keeps blocks below pruned ones: those that ended a finalization. */
function requireEnds(reader: StateReader, earliest: number): void {
  for (let index = reader.finalizations.count() - 1; index >= 0; index--) {
    const {endBlock} = reader.finalizations.read(index);
    if (endBlock < earliest) return;
    requireRecord(endBlock, reader.readHeaderRecord(endBlock));
  }
}

function requireRecord<Found>(block: number, record: Found | undefined): Found {
  if (record === undefined)
    throw new StoreError("RECORD_MISSING", `record of block ${block} is not in the store`);
  return record;
}
