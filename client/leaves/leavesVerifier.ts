/** Where answers of chain_getLeaves are verified: in this thread, or in others. */
import type {HashSuite} from "../hash/hashSuites.ts";
import {type LeafRange, type LeavesRequest, verifyLeaves} from "./leafRange.ts";

/** Verified leaves, with the answer's bytes (docs/proofs.md, section 15). */
export interface VerifiedLeaves extends LeafRange {
  readonly proof: Uint8Array;
}

export interface LeavesVerifier {
  /**
   * @param rootOf - finds the trusted root of the answer's block, 32 bytes
   * @param bytes - of the answer, alone in their memory. Use those of the result afterwards: these may have gone to another thread
   * @throws ProofError; what rootOf throws
   */
  verify(
    suite: HashSuite,
    rootOf: () => Promise<Uint8Array>,
    request: LeavesRequest,
    bytes: Uint8Array,
  ): Promise<VerifiedLeaves>;
}

export const thisThread: LeavesVerifier = {
  async verify(suite, rootOf, request, bytes) {
    return {...verifyLeaves(suite, await rootOf(), request, bytes), proof: bytes};
  },
};
