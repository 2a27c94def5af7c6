/**
 * The storage trees of many accounts, one after the other. Most are small, and a request for each would be slow:
 *
 *   accounts  ->  group of 32  ->  the first leaves of each tree, in one batch  ->  what one of them has beyond, in ranges of its own
 */

import {PieceQueue} from "./pieceQueue.ts";
import type {TreeRange} from "./pulledRange.ts";
import {listStored, type StoredAccount, type StoredAccounts} from "./storedAccounts.ts";
import {ACCOUNTS} from "./treeName.ts";
import {askRange, type RangeSource, readTree} from "./treeRanges.ts";

/** A range of an account's storage tree. */
export interface StorageRange {
  /** Leaf index of the account. */
  readonly owner: number;
  readonly range: TreeRange;
}

/** Trees of a batch. */
const GROUP = 32;
/** Leaves of each that come with the batch. With hash-like keys they take 20 KB of JSON. */
const FIRST_LEAVES = 128;

/**
 * @param accounts - those that are remembered. The others are read from the account tree
 * @param first - the leaf index of the first account of interest, and that of the first leaf of its tree
 * @param positions - nextFreeNode of the account tree
 * @throws what getLeaves throws, after all ranges before; RpcError ADDRESS_UNKNOWN; TypeError if `first` is in the middle of no tree
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
  const ask = (group: readonly StoredAccount[]) => askGroup(source, group);
  const queue = new PieceQueue(groupOwners(owners), ask, source.ahead);
  for await (const {piece, answer} of queue.read(source.signal))
    for (const [i, ranges] of answer.entries()) {
      const owner = piece[i] as StoredAccount;
      for (const range of ranges) yield {owner: owner.leafIndex, range};
      const {end, nextFreeNode} = ranges.at(-1) as TreeRange;
      if (end < nextFreeNode) yield* readRest(source, owner, end, nextFreeNode);
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

async function* groupOwners(
  owners: AsyncIterable<StoredAccount>,
): AsyncGenerator<readonly StoredAccount[], void, void> {
  let group: StoredAccount[] = [];
  for await (const owner of owners) {
    group.push(owner);
    if (group.length < GROUP) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

/** @returns per account the first ranges of its tree: how many, `leavesPerRange` bounds for all of them together */
async function askGroup(source: RangeSource, group: readonly StoredAccount[]): Promise<TreeRange[][]> {
  const count = Math.min(FIRST_LEAVES, source.leavesPerRange);
  const firsts = await Promise.all(group.map(({address}) => askRange(source, address, 0, count, true)));
  let room = source.leavesPerRange;
  return Promise.all(
    firsts.map(async first => {
      const {tree, end, nextFreeNode} = first;
      const more = Math.min(nextFreeNode - end, room);
      if (more <= 0) return [first];
      room -= more;
      return [first, await askRange(source, tree, end, more)];
    }),
  );
}
