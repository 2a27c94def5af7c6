/** A proof that does not prove what it should. Match `code`; the message may change. */
export class ProofError extends Error {
  override readonly name = "ProofError";
  readonly code = "PROOF_REFUSED";

  constructor(
    /** The place in the proof, as `accountProof.proof.proofRelatedNodes[40]`. */
    readonly at: string,
    /** What is wrong there. */
    readonly rule: string,
  ) {
    super(`${at}: ${rule}`);
  }
}
