/**
 * Proofs for many keys, one multiproof after another:
 *
 *   source  ->  piece | piece | piece  ->  getMultiProof, some at a time  ->  entries in the source's order
 */
import type {Proven} from "../proof/proofVerifier.ts";
import type {ProofRequest} from "../proof/request.ts";
import {type BlockName, blockNumber} from "../service/block.ts";
import {requireWhole} from "../service/connection.ts";
import type {Abortable, ProofClient} from "../service/proofClient.ts";
import {provableTag} from "../service/proofMethods.ts";
import type {ProvenMultiProof} from "../service/provenAnswer.ts";
import {decodeCursor, encodeCursor, type PullPlace} from "./cursor.ts";
import {divideRequests, type ProofRequests} from "./piece.ts";
import {type Answered, PieceQueue} from "./pieceQueue.ts";

export interface PullParameters extends Abortable {
  /** May be endless. An entry is taken when it is needed, and forgotten when it is given back. */
  readonly requests: ProofRequests;
  /** All proofs are of this one block. Default: "finalized", the newest one at the start; with a cursor, the cursor's, and no other. */
  readonly block?: BlockName;
  /** Where to go on: the `cursor` of the last entry that was given. `requests` must be the same, from their beginning. */
  readonly cursor?: string;
  /** Addresses and storage keys of one proof together, 2 to 2 000. Default: 1 000. */
  readonly keysPerProof?: number;
  /** Proofs that are asked for or held at a time: this bounds the memory. Default: 4. */
  readonly ahead?: number;
}

/** What is proved of one entry. One with more keys than a proof takes comes in several parts. */
export interface PulledProof extends ProofRequest, Proven {
  readonly block: bigint;
  /** The trusted root that it was verified against. */
  readonly stateRoot: string;
  /** Goes on after this entry. Keep it as it is: its form may change with the version. */
  readonly cursor: string;
}

/**
 * Pulls proofs for the entries of a source, in its order. What is not read is not asked for, but for what `ahead` allows. Ending the
 * loop ends the calls and closes the source.
 *
 *     for await (const {address, account, cursor} of pullProofs(client, {requests: addresses(), cursor: saved}))
 *       await save(address, account, cursor);
 *
 * @throws what `getMultiProof` and the source throw, after all entries before; TypeError for a parameter that is none
 */
export async function* pullProofs(
  client: Pick<ProofClient, "getMultiProof" | "getStateRoot">,
  {requests, block, cursor, keysPerProof = 1000, ahead = 4, signal}: PullParameters,
): AsyncGenerator<PulledProof, void, void> {
  requireWhole("keysPerProof", keysPerProof, 2, 2000);
  requireWhole("ahead", ahead, 1, 1024);
  const start = await findStart(client, block, cursor, signal);
  const stop = new AbortController();
  const onAbort = () => stop.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort);
  const queue = new PieceQueue(
    divideRequests(requests, start, keysPerProof),
    ({entries}) => client.getMultiProof({entries, block: start.block, signal: stop.signal}),
    ahead,
  );
  try {
    for (;;) {
      const next = await queue.next(signal);
      if (next === undefined) return;
      yield* openPiece(next);
      queue.drop();
    }
  } finally {
    signal?.removeEventListener("abort", onAbort);
    stop.abort(new Error("nobody reads these proofs any more"));
    await queue.close();
  }
}

function* openPiece({piece, answer}: Answered<ProvenMultiProof>): Generator<PulledProof, void, void> {
  const {block, stateRoot, entries} = answer;
  for (let i = 0; i < entries.length; i++)
    yield {
      ...(piece.entries[i] as ProofRequest),
      ...(entries[i] as Proven),
      ...{block, stateRoot, cursor: encodeCursor(piece.places[i] as PullPlace)},
    };
}

async function findStart(
  client: Pick<ProofClient, "getStateRoot">,
  block: BlockName | undefined,
  cursor: string | undefined,
  signal: AbortSignal | undefined,
): Promise<PullPlace> {
  const number = blockNumber(block ?? "finalized");
  if (cursor !== undefined) {
    const place = decodeCursor(cursor);
    if (block === undefined || number === place.block) return place;
    throw new TypeError(`expected block ${place.block} as in the cursor, got ${block}`);
  }
  if (number !== undefined) return {block: number, entry: 0, key: 0};
  const tag = provableTag(block ?? "finalized");
  const rooted = await client.getStateRoot({block: tag, ...(signal === undefined ? {} : {signal})});
  return {block: rooted.number, entry: 0, key: 0};
}
