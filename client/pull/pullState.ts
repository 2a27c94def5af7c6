/**
 * The leaves of a whole tree, or of all trees of a state, one range after another:
 *
 *   tree  ->  range | range | range  ->  getLeaves, some at a time  ->  verified ranges in order
 */

import type {Abortable, BlockName} from "../methods/askedBlock.ts";
import {MAX_MS, requireWhole} from "../methods/connection.ts";
import type {ProofClient} from "../methods/proofClient.ts";
import {LinkedStop} from "../rpc/abortable.ts";
import {askAhead, RETRY_MS} from "./askAhead.ts";
import {ACCOUNTS, ALL, decodeStatePlace, encodeStatePlace, readTreeName, type StatePlace} from "./places.ts";
import {findBlock} from "./pulledBlock.ts";
import {listStored, type StoredAccount, StoredAccounts} from "./storedAccounts.ts";
import {askRange, type PulledRange, type RangeSource, readTree, type TreeRange} from "./treeRanges.ts";
import {usefulThreads, VerifierThreads} from "./verifierThreads.ts";

export interface PullStateParameters extends Abortable {
  /**
   * "accounts": the account tree. An address: the storage tree of that account. "all": the account tree, and then the storage trees of
   * all accounts that have storage, in the order of their leaf indexes.
   */
  readonly tree: string;
  /** All ranges are of this one block. Default: "finalized", the newest one at the start; with a cursor, the cursor's, and no other. */
  readonly block?: BlockName | undefined;
  /** Where to go on: the `cursor` of the last range that was given. `tree` must be the same. */
  readonly cursor?: string | undefined;
  /** Answers that are asked for or held at a time: this bounds the memory. Default: 4. */
  readonly ahead?: number | undefined;
  /** Leaves of one range, 1 to 4 096. A server that answers fewer is asked for the rest. Default: 1 024. */
  readonly leavesPerRange?: number | undefined;
  /**
   * Threads that verify, besides this one: 0 to 64. Default: as many as there are other cores, up to 4, and 0 in browsers; for trees
   * that are worth it. They start when an answer shows that its tree has more leaves, and end with the pull.
   */
  readonly threads?: number | undefined;
  /** How long an answer is asked for again while the server is busy or away. Default: 30 000. 0: not at all. */
  readonly retryMs?: number | undefined;
}

export const LEAVES_PER_RANGE = 1024;
/** Verifying fewer takes less time than starting a thread. */
const WORTH_LEAVES = 16_384;

/**
 * Pulls whole trees. Ranges come in order, without a hole: of each tree from leaf index 0 to nextFreeNode, so nothing is missing and
 * nothing comes twice. What is not read is not asked for, but for what `ahead` allows. Ending the loop ends the calls.
 *
 *     for await (const {tree, leaves, cursor} of pullState(client, {tree: "all", block, cursor: saved}))
 *       await save(tree, leaves, cursor);
 *
 * A tree that has no leaves but head and tail is given too, if it was asked for by address.
 *
 * @throws what `getLeaves` throws, after all ranges before: RpcError -32001, which names the nearest block that is kept, if the server
 *   has pruned the block meanwhile; TypeError for a parameter that is none
 */
export async function* pullState(
  client: Pick<ProofClient, "getLeaves" | "getStateRoot">,
  {
    tree,
    block,
    cursor,
    ahead = 4,
    leavesPerRange = LEAVES_PER_RANGE,
    threads,
    retryMs = RETRY_MS,
    signal,
  }: PullStateParameters,
): AsyncGenerator<PulledRange, void, void> {
  requireWhole("ahead", ahead, 1, 1024);
  requireWhole("leavesPerRange", leavesPerRange, 1, 4096);
  if (threads !== undefined) requireWhole("threads", threads, 0, 64);
  requireWhole("retryMs", retryMs, 0, MAX_MS);
  const asked = readTreeName(tree);
  const place = cursor === undefined ? undefined : decodeStatePlace(cursor, asked);
  const number = await findBlock(client, block, place?.block, signal);
  const stop = new LinkedStop(signal);
  const verifyWith =
    threads === undefined
      ? new VerifierThreads(usefulThreads(), WORTH_LEAVES)
      : new VerifierThreads(threads, 1);
  try {
    const source = {client, block: number, ahead, leavesPerRange, retryMs, verifyWith, signal: stop.signal};
    yield* readState(source, place ?? {block: number, tree: asked, account: 0, from: 0});
  } finally {
    stop.stop(new Error("nobody reads these leaves any more"));
    await verifyWith.close();
  }
}

async function* readState(source: RangeSource, start: StatePlace): AsyncGenerator<PulledRange, void, void> {
  const {tree: asked, account, from} = start;
  const tree = asked === ALL ? ACCOUNTS : asked;
  const isNew = account === 0 && from === 0;
  // Whoever goes on may have reached the tree's end.
  let positions = isNew ? undefined : (await askRange(source, tree, 0, 1)).nextFreeNode;
  const accounts = new StoredAccounts(account === 0 ? from : account);
  if (account === 0 && (positions === undefined || from < positions))
    for await (const range of readTree(source, tree, from, positions)) {
      positions = range.nextFreeNode;
      const pulled = {...range, cursor: encodeStatePlace({...start, from: range.end})};
      yield pulled;
      if (asked === ALL) accounts.add(pulled);
    }
  if (asked !== ALL || positions === undefined) return;
  const first = account === 0 ? {account: 0, from: 0} : {account, from};
  for await (const {owner, range} of readStorages(source, accounts, first, positions)) {
    const isDone = range.end === range.nextFreeNode;
    const next = isDone ? {account: owner + 1, from: 0} : {account: owner, from: range.end};
    yield {...range, cursor: encodeStatePlace({...start, ...next})};
  }
}

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
