/** The ranges of one tree in order, some of them requested ahead of the reader. */

import {type LeafRange, type LeavesVerifier, NEW_TREE_POSITIONS} from "../leaves/leafRange.ts";
import type {ProofClient} from "../methods/proofClient.ts";
import {type AskingAhead, askAhead} from "./askAhead.ts";
import {ACCOUNTS} from "./places.ts";

export interface RangeSource extends AskingAhead {
  readonly client: Pick<ProofClient, "getLeaves">;
  readonly block: bigint;
  readonly leavesPerRange: number;
  readonly verifyWith: LeavesVerifier;
}

/** Positions of a tree. The server may answer them in several ranges. */
interface Piece {
  readonly from: number;
  readonly end: number;
}

/** @param nextFreeNode - undefined: of the first answer. @throws what getLeaves throws, after all ranges before */
export async function* readTree(
  source: RangeSource,
  tree: string,
  from: number,
  nextFreeNode?: number,
): AsyncGenerator<TreeRange, void, void> {
  const {leavesPerRange} = source;
  let tellSize: (positions: number) => void = () => {};
  const size = new Promise<number>(resolve => {
    tellSize = resolve;
  });
  if (nextFreeNode !== undefined) tellSize(nextFreeNode);
  async function* divide(): AsyncGenerator<Piece, void, void> {
    let at = from;
    if (nextFreeNode === undefined) {
      at += leavesPerRange;
      yield {from, end: at};
    }
    for (const positions = await size; at < positions; at += leavesPerRange)
      yield {from: at, end: Math.min(at + leavesPerRange, positions)};
  }
  const ask = async (piece: Piece): Promise<TreeRange[]> => {
    const ranges: TreeRange[] = [];
    let {from: at, end} = piece;
    do {
      const range = await askRange(source, tree, at, end - at);
      tellSize(range.nextFreeNode);
      ranges.push(range);
      at = range.end;
      end = Math.min(end, range.nextFreeNode);
    } while (at < end);
    return ranges;
  };
  for await (const {answer} of askAhead(divide(), ask, source)) yield* answer;
}

export async function askRange(
  {client, block, verifyWith, signal}: RangeSource,
  tree: string,
  from: number,
  count: number,
): Promise<TreeRange> {
  const range = await client.getLeaves({tree, from, count, block, verifyWith, signal});
  const {account, nextFreeNode, end} = range;
  const hasLeaves = tree === ACCOUNTS || nextFreeNode > NEW_TREE_POSITIONS;
  return {
    block: range.block,
    tree,
    account,
    nextFreeNode,
    from: hasLeaves ? from : 0,
    end,
    get leaves() {
      return range.leaves;
    },
  };
}

/** Leaves of one tree: every one from `from` to before `end`. */
export interface PulledRange extends LeafRange {
  /** "accounts", or the address of the account whose storage tree it is: `0x` and 40 lower-case digits. */
  readonly tree: string;
  readonly from: number;
  /** Continues after this range. Opaque: its form may change between versions. */
  readonly cursor: string;
}

/** A range without the cursor of its pull. Reading `leaves` may decode them each time, so read it once. */
export type TreeRange = Omit<PulledRange, "cursor">;
