/** fast-check arbitraries for chains that make two trees large (more pages, more index levels), and then small again. */
import fc from "fast-check";
import type {AccountDifference} from "./differenceLine.ts";
import {
  ADDRESSES,
  type BlockContent,
  blockContents,
  quantity,
  type RandomChain,
  SLOTS,
  toChain,
} from "./randomBlocks.ts";

/**
 * The account tree and the storage of one account grow past `boundary` leaf positions: a burst up to just before it, one leaf
 * per block across it, then blocks that touch old and new leaves at random, before and after most or all leaves are deleted in
 * one block.
 */
export function growingChains({
  boundary,
  maxBlocks,
}: {
  readonly boundary: number;
  readonly maxBlocks: number;
}): fc.Arbitrary<RandomChain> {
  const owner = ADDRESSES[3] as string;
  const grownAddress = (i: number) => `0xa0${(i * 7919 + 1).toString(16).padStart(38, "0")}`;
  const grownSlot = (i: number) => BigInt(i) + 1000n;
  const touch = (leaves: readonly number[], isDeleting: boolean): BlockContent => {
    const accounts: Record<string, AccountDifference | null> = Object.fromEntries(
      leaves.map(i => [grownAddress(i), isDeleting ? null : {balance: quantity(i)}]),
    );
    accounts[owner] = {
      storage: Object.fromEntries(
        leaves.map(i => [quantity(grownSlot(i)), quantity(isDeleting ? 0 : i + 1)]),
      ),
    };
    return {accounts, namesParent: true};
  };
  // Leaves near the ends, near the boundary and near a power of two below it. The last two leaves are never created.
  const shown = [
    0,
    1,
    5,
    boundary / 2,
    boundary - 4,
    boundary - 3,
    boundary - 2,
    boundary - 1,
    boundary,
    boundary + 9,
  ].filter((i, at, all) => i >= 0 && all.indexOf(i) === at);
  const addresses = shown.map(grownAddress);
  const slots = shown.map(grownSlot);
  const churn = blockContents([...ADDRESSES, ...addresses], [...SLOTS, ...slots], 8);
  return fc
    .record({
      bursts: fc.array(fc.nat(boundary - 5), {maxLength: 3}),
      churn: fc.array(churn, {minLength: 2, maxLength: maxBlocks, size: "max"}),
      keptOf: fc.integer({min: 2, max: 5}),
      isEmptied: fc.boolean(),
      later: fc.array(churn, {maxLength: maxBlocks, size: "max"}),
    })
    .map(({bursts, churn: full, keptOf, isEmptied, later}) => {
      // Positions 0 and 1 are head and tail, so boundary - 2 leaves fill it.
      const steps = [5, 4, 3, 2, 1, 0].map(before => boundary - before);
      const stops = [0, ...bursts.sort((a, b) => a - b), ...steps];
      const growth = stops.slice(1).map((to, i) => touch(range(stops[i] as number, to), false));
      const thinned = touch(
        range(0, boundary).filter(i => isEmptied || i % keptOf !== 0),
        true,
      );
      return toChain([...growth, ...full, thinned, ...later], {addresses, slots, owner});
    });
}

function range(from: number, to: number): number[] {
  return Array.from({length: to - from}, (_, i) => from + i);
}
