/** Answers with proofs: as JSON, and what they prove. */
import type {Hex} from "../bytes/hex.ts";
import type {ChangeRange} from "../leaves/changeRange.ts";
import type {VerifiedLeaves} from "../leaves/leafRange.ts";
import type {Proven} from "../proof/proofVerifier.ts";

// The `result` of chain_getProof. Until it is verified, nothing guarantees these types.

export interface LeafProofJson {
  readonly value: string;
  /** 42 nodes, from the root to the leaf. */
  readonly proofRelatedNodes: readonly string[];
}

export interface PresentKeyJson {
  readonly key: string;
  readonly leafIndex: number;
  readonly proof: LeafProofJson;
}

/** The leaves just before and after the key. */
export interface AbsentKeyJson {
  readonly key: string;
  readonly leftLeafIndex: number;
  readonly leftProof: LeafProofJson;
  readonly rightLeafIndex: number;
  readonly rightProof: LeafProofJson;
}

export interface ProofJson {
  readonly accountProof: PresentKeyJson | AbsentKeyJson;
  /** One per storage key, in request order. */
  readonly storageProofs: readonly (PresentKeyJson | AbsentKeyJson)[];
}

/** What the answer to getProof or waitForProof proves. */
export interface ProvenProof extends Proven {
  readonly block: bigint;
  /** The trusted root that it was verified against. */
  readonly stateRoot: Hex;
  readonly proof: ProofJson;
}

/** What the answer to getMultiProof proves. */
export interface ProvenMultiProof extends Pick<ProvenProof, "block" | "stateRoot"> {
  /** One per entry of the request, in its order. */
  readonly entries: readonly Proven[];
  /** Proof bytes (docs/proofs.md, section 9), as a contract takes them. */
  readonly proof: Uint8Array;
}

/** What the answer to getLeaves proves. */
export type ProvenLeaves = VerifiedLeaves;

/** What the answer to getChanges proves. */
export interface ProvenChanges extends ChangeRange {
  /** Bytes of docs/proofs.md, section 16. */
  readonly proof: Uint8Array;
}

/** An answer with `verify: false`. Nothing of it is verified, not even the shape of the proof. */
export interface ServerProof {
  readonly block: bigint;
  readonly proof: ProofJson;
}

/** As above, for getMultiProof. */
export interface ServerMultiProof {
  readonly block: bigint;
  readonly proof: Uint8Array;
}

/** As above, for getLeaves. */
export type ServerLeaves = ServerMultiProof;

/** As above, for getChanges. */
export interface ServerChanges {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly proof: Uint8Array;
}
