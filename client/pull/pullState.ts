/**
 * The leaves of a whole tree, or of all trees of a state, one range after another:
 *
 *   tree  ->  range | range | range  ->  getLeaves, some at a time  ->  verified ranges in order
 */

import type {BlockName} from "../methods/askedBlock.ts";
import {requireWhole} from "../methods/connection.ts";
import type {ProofClient} from "../methods/proofClient.ts";
import type {ProvenAccount} from "../proof/proofVerifier.ts";
import {LinkedStop} from "../rpc/abortable.ts";
import {askAhead, RETRY_MS} from "./askAhead.ts";
import {ACCOUNTS, ALL, decodeStatePlace, encodeStatePlace, readTreeName, type StatePlace} from "./places.ts";
import {findBlock, type PullingParameters, requirePulling} from "./pulling.ts";
import {listStored, type StoredAccount, StoredAccounts} from "./storedAccounts.ts";
import {askRange, type PulledRange, type RangeSource, readTree, type TreeRange} from "./treeRanges.ts";
import {usefulThreads, VerifierThreads} from "./verifierThreads.ts";

export interface PullStateParameters extends PullingParameters {
  /**
   * "accounts": the account tree. An address: the storage tree of that account. "all": the account tree, and then the
   * storage trees of all accounts that have storage, in the order of their leaf indexes.
   */
  readonly tree: string;
  /** All ranges are of this block. Default: the cursor's, or the newest finalized one at the start. */
  readonly block?: BlockName | undefined;
  /** Leaves of one range, 1 to 4 096. The rest is requested again if a server answers fewer. Default: 1 024. */
  readonly leavesPerRange?: number | undefined;
  /**
   * Threads that verify, besides this one: 0 to 64. By default, a pull of a large tree has one for each other core, up
   * to 4, and none in browsers. They start when an answer shows that its tree has enough leaves, and end with the pull.
   */
  readonly threads?: number | undefined;
}

export const LEAVES_PER_RANGE = 1024;
/** Verifying fewer takes less time than starting a thread. */
const WORTH_LEAVES = 16_384;

/**
 * Pulls complete trees. Ranges come in order and without gaps: of each tree from leaf index 0 to nextFreeNode, so every
 * leaf comes exactly once. At most `ahead` ranges are requested before they are read. Leaving the loop aborts the
 * calls.
 *
 *     for await (const {tree, leaves, cursor} of pullState(client, {tree: "all", block, cursor: saved}))
 *       await save(tree, leaves, cursor);
 *
 * A tree without leaves but head and tail is given too if it was requested by address.
 *
 * @throws what `getLeaves` throws, after all ranges before: RpcError -32001, which names the nearest block that is
 *   kept, if the server has pruned the block meanwhile; TypeError for an invalid parameter
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
  requirePulling(ahead, retryMs);
  requireWhole("leavesPerRange", leavesPerRange, 1, 4096);
  if (threads !== undefined) requireWhole("threads", threads, 0, 64);
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
    stop.stop(new Error("the reader of these leaves has stopped"));
    await verifyWith.close();
  }
}

async function* readState(source: RangeSource, start: StatePlace): AsyncGenerator<PulledRange, void, void> {
  const {tree: asked, account, from} = start;
  const tree = asked === ALL ? ACCOUNTS : asked;
  const isNew = account === 0 && from === 0;
  // The cursor may be at the end of the tree.
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
  for await (const range of readStorages(source, accounts, first, positions)) {
    // Storage trees with leaves have an account.
    const owner = (range.account as ProvenAccount).leafIndex;
    const isDone = range.end === range.nextFreeNode;
    const next = isDone ? {account: owner + 1, from: 0} : {account: owner, from: range.end};
    yield {...range, cursor: encodeStatePlace({...start, ...next})};
  }
}

const FIRST_LEAVES = 128;
/** The first leaves of so many trees are as many as a range has by default. */
const TREES_PER_RANGE = 8;

/**
 * The storage trees of many accounts, one after another. Most are small, so the first leaves of many trees are
 * requested at a time, and the rest of a larger tree in ranges of its own.
 *
 * @param first - where to begin: the leaf index of an account, and that of a leaf of its tree
 * @param positions - nextFreeNode of the account tree
 * @throws what getLeaves throws, after all ranges before; TypeError if `first` is in the middle of no tree
 */
async function* readStorages(
  source: RangeSource,
  accounts: StoredAccounts,
  first: {readonly account: number; readonly from: number},
  positions: number,
): AsyncGenerator<TreeRange, void, void> {
  const owners = listOwners(source, accounts, first.account, positions);
  if (first.from > 0) {
    const {value: owner} = await owners.next();
    if (owner?.leafIndex !== first.account)
      throw new TypeError("the cursor: points into the storage of an account that has none");
    yield* readTree(source, owner.address, first.from);
  }
  const count = Math.min(FIRST_LEAVES, source.leavesPerRange);
  const ask = ({address}: StoredAccount) => askRange(source, address, 0, count);
  const asking = {...source, ahead: TREES_PER_RANGE * source.ahead};
  for await (const {piece: owner, answer: range} of askAhead(owners, ask, asking)) {
    yield range;
    if (range.end < range.nextFreeNode) yield* readTree(source, owner.address, range.end, range.nextFreeNode);
  }
}

/** In the order of leaf indexes. @param from - the lowest leaf index */
async function* listOwners(
  source: RangeSource,
  accounts: StoredAccounts,
  from: number,
  positions: number,
): AsyncGenerator<StoredAccount, void, void> {
  const read = async function* (from: number, end: number): AsyncGenerator<StoredAccount, void, void> {
    if (from >= end) return;
    for await (const {leaves} of readTree(source, ACCOUNTS, from, end)) yield* listStored(leaves);
  };
  yield* read(from, Math.min(accounts.readFrom, positions));
  yield* accounts.list();
  yield* read(accounts.readTo, positions);
}
