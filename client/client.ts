/**
 * Verifies proofs of accounts and storage slots against a root that the caller trusts (docs/proofs.md).
 *
 * @module
 */
export {compareBytes, concatBytes} from "./bytes/byteString.ts";
export {decodeHex, encodeHex} from "./bytes/hex.ts";
export {
  compact,
  compactAnswers,
  compactSlots,
  expand,
  verifyCompact,
  verifySlots,
} from "./compact/compactProof.ts";
export {
  decodeMultiProof,
  encodeMultiProof,
  type MultiProofJson,
  verifyMultiProof,
} from "./compact/multiProof.ts";
export {type OpenedEntry, type OpenedKey, type OpenedLeaf, openAnswer} from "./compact/openedPaths.ts";
export type {LeafJson, TreePartJson} from "./compact/partJson.ts";
export type {KeyPlace} from "./compact/treePart.ts";
export {
  createSha256Suite,
  type HashSuite,
  newTreeRoot,
  poseidon2Suite,
  type Sha256,
  sha256Suite,
} from "./hash/hashSuites.ts";
export {type Account, decodeAccount, encodeAccount} from "./proof/account.ts";
export {ProofError} from "./proof/proofError.ts";
export {
  type Proven,
  type ProvenAccount,
  verifyAbsence,
  verifyAccount,
  verifyProof,
  verifySlot,
} from "./proof/proofVerifier.ts";
export type {ProofRequest} from "./proof/request.ts";
