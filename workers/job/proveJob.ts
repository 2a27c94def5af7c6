/** Proofs to make: what the main thread hands to a proof thread. */
export interface ProveJob {
  /** Packed calls, back to back (packedCall.ts). */
  readonly calls: Uint8Array;
  /** JSON texts of the calls' ids, one per call. */
  readonly ids: readonly string[];
  /**
   * To write the answer into; transferred with the job, and back with its Answers. Lost where the job fails. Left out: the
   * answer comes in memory of its own size.
   */
  readonly memory?: ArrayBuffer;
}
