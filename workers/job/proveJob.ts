/** Proofs to make: what the main thread hands to a proof thread. */

/**
 * Calls of chain_getProof and chain_getProofAt, packed back to back so that one buffer crosses instead of objects:
 *
 *   block u48 | address 20 | key count u16 | form u8 | keys, 32 bytes each
 *
 * `ids` are the JSON texts of the calls' ids, one per call.
 */
export interface ProveJob {
  readonly calls: Uint8Array;
  readonly ids: readonly string[];
  /**
   * To write the answer into; transferred with the job, and back with its Answers. Lost where the job fails. Left out: the
   * answer comes in memory of its own size.
   */
  readonly memory?: ArrayBuffer;
}

/** Bytes of a packed call before its keys. */
export const CALL_HEAD_BYTES = 6 + 20 + 2 + 1;

/** Where the form stands in a packed call. */
export const FORM_AT = 28;

/** What a call's result is: the proof alone (chain_getProof), or the proof and its block (chain_getProofAt). */
export const ProofForm = {PLAIN: 0, WITH_BLOCK: 1} as const;

export type ProofForm = (typeof ProofForm)[keyof typeof ProofForm];
