/** Multiproofs (docs/proofs.md, sections 9 to 11): one proof for many accounts and slots, as JSON or as bytes. */
import {isEqual} from "../bytes/byteString.ts";
import type {HashSuite} from "../hash/hashSuites.ts";
import type {Proven} from "../proof/proofVerifier.ts";
import type {ProofRequest} from "../proof/request.ts";
import {check, readFields} from "../proof/strictJson.ts";
import {type AskedAccounts, askAccounts} from "./askedKeys.ts";
import {readPartJson, type TreePartJson, writePartJson} from "./partJson.ts";
import {decodeProofBytes, encodeProofBytes} from "./proofBytes.ts";
import type {TreePart} from "./treePart.ts";
import {verifyAccountsPart} from "./verifyAccounts.ts";

/** The `result` of chain_getMultiProof. */
export interface MultiProofJson {
  readonly accountTree: TreePartJson;
}

/**
 * Verifies a multiproof.
 *
 * @param stateRoot - the trusted root, 32 bytes
 * @param request - your own, not the answer's
 * @param proof - proof bytes, or the `result` of chain_getMultiProof, parsed
 * @returns what is proven, per entry of the request
 * @throws ProofError
 */
export function verifyMultiProof(
  suite: HashSuite,
  stateRoot: Uint8Array,
  request: readonly ProofRequest[],
  proof: unknown,
): readonly Proven[] {
  const asked = askAccounts(suite, request);
  const part = proof instanceof Uint8Array ? decodeProofBytes(suite, proof, asked) : readJson(proof, asked);
  const {root, proven} = verifyAccountsPart(suite, "accountTree", part, asked);
  check(isEqual(root, stateRoot), "accountTree", "does not fold to the trusted root");
  return proven;
}

/**
 * The JSON of proof bytes. The proof is checked for all but its root.
 *
 * @throws ProofError
 */
export function decodeMultiProof(
  suite: HashSuite,
  request: readonly ProofRequest[],
  bytes: Uint8Array,
): MultiProofJson {
  const asked = askAccounts(suite, request);
  const part = decodeProofBytes(suite, bytes, asked);
  const {accounts} = verifyAccountsPart(suite, "accountTree", part, asked);
  return {accountTree: writePartJson(part, accounts)};
}

/**
 * The bytes of a multiproof's JSON. The proof is checked for all but its root.
 *
 * @throws ProofError, also if an account has no compact form (docs/proofs.md, section 9.3)
 */
export function encodeMultiProof(
  suite: HashSuite,
  request: readonly ProofRequest[],
  json: unknown,
): Uint8Array {
  const asked = askAccounts(suite, request);
  const part = readJson(json, asked);
  verifyAccountsPart(suite, "accountTree", part, asked);
  return encodeProofBytes(suite, "accounts", part);
}

function readJson(json: unknown, asked: AskedAccounts): TreePart {
  const [accountTree] = readFields("result", json, ["accountTree"]);
  return readPartJson("accountTree", accountTree, asked);
}
