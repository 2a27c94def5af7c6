/** The compact form of answers of chain_getProof (docs/proofs.md, sections 9 to 12): made and verified. */
import {isEqual} from "../bytes/byteString.ts";
import {type HashSuite, readWord} from "../hash/hashSuites.ts";
import type {Proven} from "../proof/proofVerifier.ts";
import type {ProofEntry} from "../proof/request.ts";
import {check, plainBytes, readArray} from "../proof/strictJson.ts";
import {askAccounts, askSlots} from "./askedKeys.ts";
import {gatherPart} from "./gatherPart.ts";
import {openAnswer, openSlots} from "./openedPaths.ts";
import {decodeProofBytes, encodeProofBytes} from "./proofBytes.ts";
import {verifyAccountsPart, verifySlotsPart} from "./verifyPart.ts";

/**
 * Makes the compact form of an answer of chain_getProof. Nothing is verified.
 *
 * @param answer - the `result`, parsed
 * @throws ProofError unless it has the form of docs/proofs.md, section 5, and has a compact form (section 9.3)
 */
export function compact(suite: HashSuite, request: ProofEntry, answer: unknown): Uint8Array {
  return compactAnswers(suite, [request], [answer]);
}

/**
 * Makes one multiproof of the answers of several calls at one block. Nothing is verified.
 *
 * @throws ProofError as above, or if the answers are of several blocks
 */
export function compactAnswers(
  suite: HashSuite,
  request: readonly ProofEntry[],
  answers: readonly unknown[],
): Uint8Array {
  const asked = readArray("request", request, undefined, entry => entry as ProofEntry);
  const entries = readArray("answers", answers, asked.length, (answer, i) =>
    openAnswer(suite, asked[i] as ProofEntry, answer),
  );
  const accounts = entries.map(({account}) => account);
  const part = gatherPart(suite, "accountTree", accounts, named => {
    const slots = named.flatMap(i => entries[i]?.slots ?? []);
    return slots.length === 0 ? undefined : gatherPart(suite, "storageTree", slots);
  });
  return encodeProofBytes(suite, "accounts", part);
}

/** The same for storage proofs alone, for `verifySlots`. @param storageProofs - of an answer, parsed: one per key */
export function compactSlots(suite: HashSuite, keys: readonly string[], storageProofs: unknown): Uint8Array {
  const part = gatherPart(suite, "storageTree", openSlots(suite, keys, storageProofs));
  return encodeProofBytes(suite, "slots", part);
}

/** Verifies the compact form of an answer. @param stateRoot - the trusted root, 32 bytes. @throws ProofError */
export function verifyCompact(
  suite: HashSuite,
  stateRoot: Uint8Array,
  request: ProofEntry,
  proof: Uint8Array | string,
): Proven {
  return verifyMultiProof(suite, stateRoot, [request], proof)[0] as Proven;
}

/**
 * Verifies a multiproof.
 *
 * @param stateRoot - the trusted root, 32 bytes
 * @param request - your own, not the answer's
 * @param proof - its bytes, or the same in hex, as chain_getMultiProof gives them
 * @returns what is proven, per entry of the request
 * @throws ProofError
 */
export function verifyMultiProof(
  suite: HashSuite,
  stateRoot: Uint8Array,
  request: readonly ProofEntry[],
  proof: Uint8Array | string,
): readonly Proven[] {
  const asked = askAccounts(suite, request);
  const part = decodeProofBytes(suite, proof, asked);
  const {root, proven} = verifyAccountsPart(suite, part, asked);
  check(isEqual(root, plainBytes("root", stateRoot)), "accountTree", "does not fold to the trusted root");
  return proven;
}

/**
 * Verifies the compact form of storage proofs.
 *
 * @param storageRoot - of the account, once it is proven; 32 bytes
 * @returns a value per key; undefined: proven absent, that is zero
 * @throws ProofError
 */
export function verifySlots(
  suite: HashSuite,
  storageRoot: Uint8Array,
  keys: readonly string[],
  proof: Uint8Array | string,
): readonly (bigint | undefined)[] {
  const asked = askSlots(suite, keys);
  const part = decodeProofBytes(suite, proof, asked);
  const {root, values} = verifySlotsPart(suite, "storageTree", part, asked.hKeys, 2);
  check(isEqual(root, plainBytes("root", storageRoot)), "storageTree", "does not fold to the trusted root");
  return values.map(value => value && readWord(value));
}
