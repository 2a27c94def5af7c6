/** Multiproofs (docs/proofs.md, sections 9 and 10): one proof for many accounts and slots. */
import {isEqual} from "../bytes/byteString.ts";
import type {HashSuite} from "../hash/hashSuites.ts";
import type {Proven} from "../proof/proofVerifier.ts";
import type {ProofRequest} from "../proof/request.ts";
import {check} from "../proof/strictJson.ts";
import {askAccounts} from "./askedKeys.ts";
import {decodeProofBytes} from "./proofBytes.ts";
import {verifyAccountsPart} from "./verifyAccounts.ts";

/**
 * Verifies a multiproof.
 *
 * @param stateRoot - the trusted root, 32 bytes
 * @param request - your own, not the answer's
 * @param bytes - of the proof. As JSON, chain_getMultiProof gives them in hex (`decodeHex`)
 * @returns what is proven, per entry of the request
 * @throws ProofError
 */
export function verifyMultiProof(
  suite: HashSuite,
  stateRoot: Uint8Array,
  request: readonly ProofRequest[],
  bytes: Uint8Array,
): readonly Proven[] {
  const asked = askAccounts(suite, request);
  const part = decodeProofBytes(suite, bytes, asked);
  const {root, proven} = verifyAccountsPart(suite, "accountTree", part, asked);
  check(isEqual(root, stateRoot), "accountTree", "does not fold to the trusted root");
  return proven;
}
