/** A job of proofs: what the main thread hands to a proof thread (proveMailbox.ts). */
export interface ProveJob {
  /** Packed calls, back to back (packedCall.ts). */
  readonly calls: Uint8Array;
  /** JSON texts of the calls' ids, one per call. */
  readonly ids: readonly string[];
}
