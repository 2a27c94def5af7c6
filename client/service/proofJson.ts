/** The `result` of chain_getProof as JSON: what the types say of it is the server's claim until it is verified. */

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
