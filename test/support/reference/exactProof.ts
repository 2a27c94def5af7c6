/** The exact shape of chain_getProof's answers (docs/proofs.md, section 5), which clients need not insist on. */
import {isObject} from "../../../client/bytes/values.ts";
import type {HashSuite} from "../../../client/hash/hashSuites.ts";
import {type Proven, verifyProof as verifyLeniently} from "../../../client/proof/proofVerifier.ts";

export type {Proven} from "../../../client/proof/proofVerifier.ts";

/**
 * The client's verifyProof, of answers of the exact shape only.
 *
 * @throws Error that names the place in the answer and the rule
 */
export function verifyProof(
  suite: HashSuite,
  stateRoot: Uint8Array,
  address: string,
  keys: readonly string[],
  result: unknown,
): Proven {
  const [accountProof, storageProofs] = readExactly("result", result, ["accountProof", "storageProofs"]);
  checkEntry("accountProof", accountProof);
  if (Array.isArray(storageProofs))
    storageProofs.forEach((entry, i) => {
      checkEntry(`storageProofs[${i}]`, entry);
    });
  return verifyLeniently(suite, stateRoot, address, keys, result);
}

function checkEntry(at: string, entry: unknown): void {
  const exists = isObject(entry) && "leafIndex" in entry;
  const fields = exists
    ? ["key", "leafIndex", "proof"]
    : ["key", "leftLeafIndex", "leftProof", "rightLeafIndex", "rightProof"];
  readExactly(at, entry, fields).forEach((value, i) => {
    const name = fields[i] as string;
    if (name === "proof" || name.endsWith("Proof"))
      readExactly(`${at}.${name}`, value, ["value", "proofRelatedNodes"]);
  });
}

/** @returns the values of the fields */
function readExactly(at: string, value: unknown, names: readonly string[]): unknown[] {
  if (!isObject(value)) throw new Error(`${at}: not an object`);
  const found = Object.keys(value).join(", ");
  if (found !== names.join(", "))
    throw new Error(`${at}: fields are ${found} instead of ${names.join(", ")}`);
  return Object.values(value);
}
