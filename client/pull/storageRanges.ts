/**
 * The storage trees of many accounts, one after the other. Most are small, so the first leaves of many trees are asked for at a time:
 *
 *   accounts  ->  the first leaves of each tree  ->  what a tree has beyond, in ranges of its own
 */
import {askAhead} from "./askAhead.ts";
import {ACCOUNTS} from "./places.ts";
import type {TreeRange} from "./pulledRange.ts";
import {listStored, type StoredAccount, type StoredAccounts} from "./storedAccounts.ts";
import {askRange, type RangeSource, readTree} from "./treeRanges.ts";

/** A range of an account's storage tree. */
export interface StorageRange {
  /** Leaf index of the account. */
  readonly owner: number;
  readonly range: TreeRange;
}

const FIRST_LEAVES = 128;
/** The first leaves of so many trees are as many as a range has unless told otherwise. */
const TREES_PER_RANGE = 8;

/**
 * @param accounts - those that are remembered. The others are read from the account tree
 * @param first - the leaf index of the first account of interest, and that of the first leaf of its tree
 * @param positions - nextFreeNode of the account tree
 * @throws what getLeaves throws, after all ranges before; TypeError if `first` is in the middle of no tree
 */
export async function* readStorages(
  source: RangeSource,
  accounts: StoredAccounts,
  first: {readonly account: number; readonly from: number},
  positions: number,
): AsyncGenerator<StorageRange, void, void> {
  const owners = listOwners(source, accounts, first.account, positions);
  if (first.from > 0) {
    const {value: owner} = await owners.next();
    if (owner?.leafIndex !== first.account)
      throw new TypeError("the cursor: is in the storage of an account that has none");
    yield* readRest(source, owner, first.from);
  }
  const count = Math.min(FIRST_LEAVES, source.leavesPerRange);
  const ask = ({address}: StoredAccount) => askRange(source, address, 0, count);
  const asking = {...source, ahead: TREES_PER_RANGE * source.ahead};
  for await (const {piece: owner, answer: range} of askAhead(owners, ask, asking)) {
    yield {owner: owner.leafIndex, range};
    if (range.end < range.nextFreeNode) yield* readRest(source, owner, range.end, range.nextFreeNode);
  }
}

async function* readRest(
  source: RangeSource,
  {leafIndex, address}: StoredAccount,
  from: number,
  nextFreeNode?: number,
): AsyncGenerator<StorageRange, void, void> {
  for await (const range of readTree(source, address, from, nextFreeNode)) yield {owner: leafIndex, range};
}

/** In the order of leaf indexes. @param from - leaf index of the first one of interest */
async function* listOwners(
  source: RangeSource,
  accounts: StoredAccounts,
  from: number,
  positions: number,
): AsyncGenerator<StoredAccount, void, void> {
  yield* readOwners(source, from, Math.min(accounts.readFrom, positions));
  yield* accounts.list();
  yield* readOwners(source, accounts.readTo, positions);
}

async function* readOwners(
  source: RangeSource,
  from: number,
  end: number,
): AsyncGenerator<StoredAccount, void, void> {
  if (from >= end) return;
  for await (const {leaves} of readTree(source, ACCOUNTS, from, end)) yield* listStored(leaves);
}
