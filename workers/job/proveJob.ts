/** A job of proofs: what the main thread hands to a proof thread. */
export interface ProveJob {
  /** Packed calls, back to back (packedCall.ts). */
  readonly calls: Uint8Array;
  /** JSON texts of the calls' ids, one per call. */
  readonly ids: readonly string[];
  /**
   * Memory for the answer. It is transferred with the job and comes back with its Answers. If the job fails, it is lost.
   * Without it the answer comes in memory of its own size.
   */
  readonly memory?: ArrayBuffer;
}
