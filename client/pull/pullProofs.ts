/**
 * Proofs for many keys, one multiproof after another:
 *
 *   source  ->  piece | piece | piece  ->  getMultiProof, some at a time  ->  entries in the source's order
 */

import type {Hex} from "../bytes/hex.ts";
import type {BlockName} from "../methods/askedBlock.ts";
import {requireWhole} from "../methods/connection.ts";
import type {ProofClient} from "../methods/proofClient.ts";
import type {Proven} from "../proof/proofVerifier.ts";
import type {ProofRequest} from "../proof/request.ts";
import {askAhead, RETRY_MS} from "./askAhead.ts";
import {divideRequests, type Piece, type ProofRequests} from "./piece.ts";
import {decodeProofsPlace, encodeProofsPlace, type ProofsPlace} from "./places.ts";
import {findBlock, type PullingParameters, requirePulling} from "./pulling.ts";

export interface PullParameters extends PullingParameters {
  /** May be endless: entries are taken when they are needed. With a cursor: the same, from their beginning. */
  readonly requests: ProofRequests;
  /** All proofs are of this block. Default: the cursor's, or the newest finalized one at the start. */
  readonly block?: BlockName | undefined;
  /** Addresses and storage keys of one proof together, 2 to 2 000. Default: 1 000. */
  readonly keysPerProof?: number | undefined;
}

/** What is proved of one entry. One with more keys than a proof takes comes in several parts. */
export interface PulledProof extends ProofRequest, Proven {
  readonly block: bigint;
  /** The trusted root that it was verified against. */
  readonly stateRoot: Hex;
  /** The proof bytes of all entries that came together: the same array for each of them. For `verifyMultiProof`. */
  readonly proof: Uint8Array;
  /** Continues after this entry. Opaque: its form may change between versions. */
  readonly cursor: string;
}

/**
 * Pulls proofs for the entries of a source, in its order. At most `ahead` proofs are requested before they are read.
 * Leaving the loop aborts the calls and closes the source.
 *
 *     for await (const {address, account, cursor} of pullProofs(client, {requests: addresses(), cursor: saved}))
 *       await save(address, account, cursor);
 *
 * @throws what `getMultiProof` and the source throw, after all entries before; TypeError for an invalid parameter
 */
export async function* pullProofs(
  client: Pick<ProofClient, "getMultiProof" | "getStateRoot">,
  {requests, block, cursor, keysPerProof = 1000, ahead = 4, retryMs = RETRY_MS, signal}: PullParameters,
): AsyncGenerator<PulledProof, void, void> {
  requireWhole("keysPerProof", keysPerProof, 2, 2000);
  requirePulling(ahead, retryMs);
  const place = cursor === undefined ? undefined : decodeProofsPlace(cursor);
  const number = await findBlock(client, block, place?.block, signal);
  const start = place ?? {block: number, entry: 0, key: 0};
  const pieces = divideRequests(requests, start, keysPerProof);
  const ask = ({entries}: Piece, signal: AbortSignal) =>
    client.getMultiProof({entries, block: start.block, signal});
  for await (const {piece, answer} of askAhead(pieces, ask, {ahead, retryMs, signal})) {
    const {block, stateRoot, entries, proof} = answer;
    for (const [i, proven] of entries.entries()) {
      const cursor = encodeProofsPlace(piece.places[i] as ProofsPlace);
      yield {...(piece.entries[i] as ProofRequest), ...proven, block, stateRoot, proof, cursor};
    }
  }
}
