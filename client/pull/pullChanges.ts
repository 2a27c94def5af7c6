/**
 * All leaves that differ between two blocks, one answer of getChanges after another. An answer begins where the one
 * before ends, so each is requested as soon as the one before has arrived.
 */
import type {ChangeRange} from "../leaves/changeRange.ts";
import type {BlockName} from "../methods/askedBlock.ts";
import {requireWhole} from "../methods/connection.ts";
import type {ProofClient} from "../methods/proofClient.ts";
import type {ProvenChanges} from "../methods/provenAnswer.ts";
import {askAhead, RETRY_MS} from "./askAhead.ts";
import {decodeChangesPlace, encodeChangesPlace, readTreeName} from "./places.ts";
import {findBlock, type PullingParameters, requirePulling} from "./pulling.ts";

export interface PullChangesParameters extends PullingParameters {
  /** "accounts", an address for the storage of that account, or "all": accounts and the storage of each. */
  readonly tree: string;
  /** The block whose state you have. Not needed with a cursor. May be above `to`. */
  readonly from?: BlockName | undefined;
  /** The block whose state you want. Default: the cursor's, or the newest finalized one at the start. */
  readonly to?: BlockName | undefined;
  /** Leaves of one answer, at most: 1 to 4 096. Default: 4 096. */
  readonly leavesPerAnswer?: number | undefined;
}

/** Some of what differs. In the order of leaf indexes: accounts, and after each account its slots. */
export interface PulledChanges extends Omit<ChangeRange, "end"> {
  /** The proof bytes, and the `cursor` of their request: for `verifyChanges`, whose `count` is `leavesPerAnswer`. */
  readonly proof: Uint8Array;
  readonly begin: bigint;
  /** Continues after these. Opaque: its form may change between versions. */
  readonly cursor: string;
}

/**
 * Pulls what differs between two blocks, to bring the state of `from` to that of `to`. Proven is each change, and that
 * nothing else differs. At most `ahead` answers are requested before they are read. Leaving the loop aborts the calls.
 *
 *     for await (const {accounts, storages, cursor} of pullChanges(client, {tree: "all", from: 1000n, to: 2000n, cursor: saved}))
 *       await apply(accounts, storages, cursor);
 *
 * @throws what `getChanges` throws, after all answers before: RpcError -32001, which names the nearest block that is
 *   kept, if the server has pruned one of the blocks meanwhile; TypeError for an invalid parameter
 */
export async function* pullChanges(
  client: Pick<ProofClient, "getChanges" | "getStateRoot">,
  {
    tree,
    from,
    to,
    cursor,
    ahead = 2,
    leavesPerAnswer = 4096,
    retryMs = RETRY_MS,
    signal,
  }: PullChangesParameters,
): AsyncGenerator<PulledChanges, void, void> {
  requirePulling(ahead, retryMs);
  requireWhole("leavesPerAnswer", leavesPerAnswer, 1, 4096);
  const asked = readTreeName(tree);
  const place = cursor === undefined ? undefined : decodeChangesPlace(cursor, asked);
  if (place === undefined && from === undefined)
    throw new TypeError("expected from, or a cursor, got neither");
  const fromBlock = await findBlock(client, from, place?.from, signal);
  const toBlock = await findBlock(client, to, place?.to, signal);
  const start = place ?? {from: fromBlock, to: toBlock, tree: asked, cursor: 0n};
  let tellEnd: (end: bigint | undefined) => void = () => {};
  const walk = async function* (): AsyncGenerator<bigint, void, void> {
    for (let {cursor} = start; cursor !== undefined; ) {
      const end = new Promise<bigint | undefined>(resolve => {
        tellEnd = resolve;
      });
      yield cursor;
      cursor = await end;
    }
  };
  const ask = async (cursor: bigint, signal: AbortSignal): Promise<ProvenChanges> => {
    const count = leavesPerAnswer;
    const answer = await client.getChanges({tree: asked, fromBlock, toBlock, cursor, count, signal});
    tellEnd(answer.end);
    return answer;
  };
  for await (const {piece, answer} of askAhead(walk(), ask, {ahead, retryMs, signal})) {
    const {end, ...changes} = answer;
    yield {...changes, begin: piece, cursor: encodeChangesPlace({...start, cursor: end})};
  }
}
