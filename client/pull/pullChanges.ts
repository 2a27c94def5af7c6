/**
 * All leaves that differ between two blocks, one answer of getChanges after another. Where an answer begins, the one before says, so
 * that each is asked for when the one before has come, and before it is read.
 */
import type {ChangeRange} from "../leaves/changeRange.ts";
import type {Abortable, BlockName} from "../methods/askedBlock.ts";
import {MAX_MS, requireWhole} from "../methods/connection.ts";
import type {ProofClient} from "../methods/proofClient.ts";
import type {ProvenChanges} from "../methods/provenAnswer.ts";
import {LinkedStop} from "../rpc/abortable.ts";
import {askAhead, RETRY_MS} from "./askAhead.ts";
import {decodeChangesPlace, encodeChangesPlace, readTreeName} from "./places.ts";
import {findBlock} from "./pulledBlock.ts";

export interface PullChangesParameters extends Abortable {
  /** "accounts", an address for the storage of that account, or "all": each account that differs, and what differs in its storage. */
  readonly tree: string;
  /** The block whose state you have. Needless with a cursor. May be above `to`. */
  readonly from?: BlockName | undefined;
  /** The block whose state you want. Default: "finalized", the newest one at the start; with a cursor, the cursor's, and no other. */
  readonly to?: BlockName | undefined;
  /** Where to go on: the `cursor` of the last answer that was given. `tree` must be the same. */
  readonly cursor?: string | undefined;
  /** Answers that are asked for or held at a time: this bounds the memory. Default: 2. */
  readonly ahead?: number | undefined;
  /** Leaves of one answer, at most: 1 to 4 096. Default: 4 096. */
  readonly leavesPerAnswer?: number | undefined;
  /** How long an answer is asked for again while the server is busy or away. Default: 30 000. 0: not at all. */
  readonly retryMs?: number | undefined;
}

/** Some of what differs. In the order of leaf indexes: accounts, and after each account its slots. */
export interface PulledChanges extends Omit<ChangeRange, "end"> {
  /** The bytes that prove them, and where in the walk they begin: for `verifyChanges`, whose `count` is `leavesPerAnswer`. */
  readonly proof: Uint8Array;
  readonly begin: bigint;
  /** Goes on after these. Keep it as it is: its form may change with the version. */
  readonly cursor: string;
}

/** Part of the walk: where it begins, and what takes the place at which it has ended. */
interface Piece {
  readonly cursor: bigint;
  readonly tellEnd: (end: bigint | undefined) => void;
}

/**
 * Pulls what differs between two blocks, so that whoever has the state of `from` gets that of `to`. What is given is proved, and that
 * nothing else differs. What is not read is not asked for, but for what `ahead` allows. Ending the loop ends the calls.
 *
 *     for await (const {accounts, storages, cursor} of pullChanges(client, {tree: "all", from: 1000n, to: 2000n, cursor: saved}))
 *       await apply(accounts, storages, cursor);
 *
 * @throws what `getChanges` throws, after all answers before: RpcError -32001, which names the nearest block that is kept, if the
 *   server has pruned one of the blocks meanwhile; TypeError for a parameter that is none
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
  requireWhole("ahead", ahead, 1, 1024);
  requireWhole("leavesPerAnswer", leavesPerAnswer, 1, 4096);
  requireWhole("retryMs", retryMs, 0, MAX_MS);
  const asked = readTreeName(tree);
  const place = cursor === undefined ? undefined : decodeChangesPlace(cursor, asked);
  if (place === undefined && from === undefined)
    throw new TypeError("expected from, or a cursor, got neither");
  const fromBlock = await findBlock(client, from, place?.from, signal);
  const toBlock = await findBlock(client, to, place?.to, signal);
  const start = place ?? {from: fromBlock, to: toBlock, tree: asked, cursor: 0n};
  const stop = new LinkedStop(signal);
  const ask = async ({cursor, tellEnd}: Piece): Promise<ProvenChanges> => {
    const {signal} = stop;
    const count = leavesPerAnswer;
    const answer = await client.getChanges({tree: asked, fromBlock, toBlock, cursor, count, signal});
    tellEnd(answer.end);
    return answer;
  };
  try {
    const asking = {ahead, retryMs, signal: stop.signal};
    for await (const {piece, answer} of askAhead(walk(start.cursor), ask, asking, signal)) {
      const {end, ...changes} = answer;
      yield {...changes, begin: piece.cursor, cursor: encodeChangesPlace({...start, cursor: end})};
    }
  } finally {
    stop.stop(new Error("nobody reads these changes any more"));
  }
}

async function* walk(start: bigint | undefined): AsyncGenerator<Piece, void, void> {
  for (let cursor = start; cursor !== undefined; ) {
    let tellEnd: Piece["tellEnd"] = () => {};
    const end = new Promise<bigint | undefined>(resolve => {
      tellEnd = resolve;
    });
    yield {cursor, tellEnd};
    cursor = await end;
  }
}
