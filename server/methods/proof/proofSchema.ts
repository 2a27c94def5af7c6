/** JSON schema of a proof (docs/proofs.md). */
import {arrayOf, BYTES, HASH, objectOf, type Schema} from "../schema.ts";

/** Proof of a leaf: its value, and the nodes from the root down to it. */
const LEAF_PROOF = objectOf({
  value: BYTES,
  proofRelatedNodes: {...arrayOf(BYTES), minItems: 42, maxItems: 42},
});
const LEAF_INDEX = {type: "integer", minimum: 0, maximum: 2 ** 40 - 1};

function proofOf(key: Schema): Schema {
  const existence = objectOf({key, leafIndex: LEAF_INDEX, proof: LEAF_PROOF});
  const absence = objectOf({
    key,
    leftLeafIndex: LEAF_INDEX,
    leftProof: LEAF_PROOF,
    rightLeafIndex: LEAF_INDEX,
    rightProof: LEAF_PROOF,
  });
  return {oneOf: [existence, absence]};
}

export const PROOF = objectOf({
  accountProof: proofOf({title: "address", type: "string", pattern: "^0x[0-9a-f]{40}$"}),
  storageProofs: arrayOf(proofOf(HASH)),
});
