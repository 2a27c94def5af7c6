/**
 * Proofs for many keys, one multiproof after another:
 *
 *   source  ->  piece | piece | piece  ->  getMultiProof, some at a time  ->  entries in the source's order
 */

import type {Hex} from "../bytes/hex.ts";
import type {Abortable, BlockName} from "../methods/askedBlock.ts";
import {MAX_MS, requireWhole} from "../methods/connection.ts";
import type {ProofClient} from "../methods/proofClient.ts";
import type {ProvenMultiProof} from "../methods/provenAnswer.ts";
import type {Proven} from "../proof/proofVerifier.ts";
import type {ProofRequest} from "../proof/request.ts";
import {LinkedStop} from "../rpc/abortable.ts";
import {type Answered, askAhead, RETRY_MS} from "./askAhead.ts";
import {divideRequests, type Piece, type ProofRequests} from "./piece.ts";
import {decodeProofsPlace, encodeProofsPlace, type ProofsPlace} from "./places.ts";
import {findBlock} from "./pulledBlock.ts";

export interface PullParameters extends Abortable {
  /** May be endless. An entry is taken when it is needed, and forgotten when it is given back. */
  readonly requests: ProofRequests;
  /** All proofs are of this one block. Default: "finalized", the newest one at the start; with a cursor, the cursor's, and no other. */
  readonly block?: BlockName | undefined;
  /** Where to go on: the `cursor` of the last entry that was given. `requests` must be the same, from their beginning. */
  readonly cursor?: string | undefined;
  /** Addresses and storage keys of one proof together, 2 to 2 000. Default: 1 000. */
  readonly keysPerProof?: number | undefined;
  /** Proofs that are asked for or held at a time: this bounds the memory. Default: 4. */
  readonly ahead?: number | undefined;
  /** How long an answer is asked for again while the server is busy or away. Default: 30 000. 0: not at all. */
  readonly retryMs?: number | undefined;
}

/** What is proved of one entry. One with more keys than a proof takes comes in several parts. */
export interface PulledProof extends ProofRequest, Proven {
  readonly block: bigint;
  /** The trusted root that it was verified against. */
  readonly stateRoot: Hex;
  /** The proof bytes of all entries that came together: the same array for each of them. For `verifyMultiProof`. */
  readonly proof: Uint8Array;
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
  {requests, block, cursor, keysPerProof = 1000, ahead = 4, retryMs = RETRY_MS, signal}: PullParameters,
): AsyncGenerator<PulledProof, void, void> {
  requireWhole("keysPerProof", keysPerProof, 2, 2000);
  requireWhole("ahead", ahead, 1, 1024);
  requireWhole("retryMs", retryMs, 0, MAX_MS);
  const place = cursor === undefined ? undefined : decodeProofsPlace(cursor);
  const number = await findBlock(client, block, place?.block, signal);
  const start = place ?? {block: number, entry: 0, key: 0};
  const stop = new LinkedStop(signal);
  const asking = {ahead, retryMs, signal: stop.signal};
  const ask = ({entries}: Piece) => client.getMultiProof({entries, block: start.block, signal: stop.signal});
  try {
    const pieces = divideRequests(requests, start, keysPerProof);
    for await (const answered of askAhead(pieces, ask, asking, signal)) yield* openPiece(answered);
  } finally {
    stop.stop(new Error("nobody reads these proofs any more"));
  }
}

function* openPiece({piece, answer}: Answered<Piece, ProvenMultiProof>): Generator<PulledProof, void, void> {
  const {block, stateRoot, entries, proof} = answer;
  for (let i = 0; i < entries.length; i++)
    yield {
      ...(piece.entries[i] as ProofRequest),
      ...(entries[i] as Proven),
      block,
      stateRoot,
      proof,
      cursor: encodeProofsPlace(piece.places[i] as ProofsPlace),
    };
}
