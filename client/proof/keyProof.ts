/** The proof that a key exists or is absent, in an answer of chain_getProof (docs/proofs.md, sections 5 and 6). */
import {compareBytes, isEqual} from "../bytes/byteString.ts";
import {isObject, shown} from "../bytes/values.ts";
import type {HashSuite, Leaf} from "../hash/hashSuites.ts";
import {type HashValue, type LeafProof, type ProvenLeaf, readLeafProof, verifyLeaf} from "./leafProof.ts";
import type {AskedKey} from "./request.ts";
import {check, readFields} from "./strictJson.ts";

/**
 * @param at - the entry's place
 * @returns the key's own leaf, or the two around it, not yet verified
 * @throws ProofError unless it has the form of section 5 and is of this key
 */
export function readKey(suite: HashSuite, {text}: AskedKey, at: string, entry: unknown) {
  const read = (index: string, name: string): LeafProof => {
    const [leafIndex, proof] = readFields(at, entry, [index, name]);
    return readLeafProof(suite, `${at}.${name}`, leafIndex, proof);
  };
  const [echo] = readFields(at, entry, ["key"]);
  check(echo === text, `${at}.key`, () => `expected ${text}, got ${shown(echo)}`);
  if (isObject(entry) && Object.hasOwn(entry, "leafIndex")) return {own: read("leafIndex", "proof")};
  return {left: read("leftLeafIndex", "leftProof"), right: read("rightLeafIndex", "rightProof")};
}

/** @returns the key's leaf, or undefined if its absence is proven. @throws ProofError */
export function verifyKey(
  suite: HashSuite,
  hashValue: HashValue,
  root: Uint8Array,
  key: AskedKey,
  at: string,
  entry: unknown,
): ProvenLeaf | undefined {
  const proof = readKey(suite, key, at, entry);
  if ("own" in proof) {
    const leaf = verifyLeaf(suite, hashValue, root, proof.own);
    check(leaf.leafIndex >= 2, `${at}.leafIndex`, "head or tail is named as the leaf of a key");
    check(isEqual(leaf.hKey, key.hKey), proof.own.at, "hKey of the leaf does not belong to the key");
    return leaf;
  }
  const left = verifyLeaf(suite, hashValue, root, proof.left);
  const right = verifyLeaf(suite, hashValue, root, proof.right);
  checkAbsence(key.hKey, left, right, {left: proof.left.at, right: proof.right.at});
  return undefined;
}

/** Step 7 of docs/proofs.md, section 6: the key lies between two leaves that are neighbours in the list. */
export function checkAbsence(
  hKey: Uint8Array,
  left: Leaf,
  right: Leaf,
  at: {readonly left: string; readonly right: string},
): void {
  check(compareBytes(left.hKey, hKey) < 0, at.left, "hKey of the left leaf is not below the key's");
  check(compareBytes(hKey, right.hKey) < 0, at.right, "hKey of the right leaf is not above the key's");
  check(left.next === right.leafIndex, at.left, "next of the left leaf is not the right leaf");
  check(right.prev === left.leafIndex, at.right, "prev of the right leaf is not the left leaf");
}
