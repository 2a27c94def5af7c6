/**
 * Leaves with all of their siblings' hashes: what an answer of chain_getProof and a compact proof have in common.
 *
 *   answer of chain_getProof  ->  OpenedEntry  <->  compact form
 */
import {isEqual} from "../bytes/byteString.ts";
import {type HashSuite, type LeafOpening, newTreeRoot} from "../hash/hashSuites.ts";
import {ACCOUNT_VALUE_BYTES} from "../proof/account.ts";
import {hashSiblings, readLeafProof} from "../proof/leafProof.ts";
import {type AskedKey, type ProofRequest, readAddress, readStorageKey} from "../proof/request.ts";
import {check, isObject, readFields} from "../proof/strictJson.ts";

export interface OpenedLeaf extends LeafOpening {
  readonly leafIndex: number;
  /** By height, 0 to 39: 32 bytes each. Empty ones are there too. */
  readonly siblings: readonly Uint8Array[];
}

/** The leaves that prove a key, and its value if it is there: 192 bytes of an account, 32 of a slot. */
export type OpenedKey = {readonly nextFreeNode: number} & (
  | {readonly leaf: OpenedLeaf; readonly value: Uint8Array}
  | {readonly left: OpenedLeaf; readonly right: OpenedLeaf}
);

export interface OpenedEntry {
  readonly account: OpenedKey;
  /** One per slot of the request; none if the account is absent or has no storage: then every slot is absent. */
  readonly slots: readonly OpenedKey[];
}

/**
 * Reads an answer of chain_getProof without verifying it.
 *
 * @param result - the `result` of the answer, parsed
 * @throws ProofError if it has not the form of docs/proofs.md, section 5
 */
export function openAnswer(suite: HashSuite, request: ProofRequest, result: unknown): OpenedEntry {
  const [accountProof, storageProofs] = readFields("result", result, ["accountProof", "storageProofs"]);
  const account = openKey(suite, readAddress(suite, request.address), "accountProof", accountProof);
  if (!("leaf" in account)) return {account, slots: []};
  check(account.value.length === ACCOUNT_VALUE_BYTES, "accountProof.proof.value", "is not 192 bytes");
  const hasStorage = !isEqual(account.value.subarray(64, 96), newTreeRoot(suite));
  return {account, slots: hasStorage ? openSlots(suite, request.storageKeys, storageProofs) : []};
}

/**
 * Reads `storageProofs` of an answer without verifying them.
 *
 * @throws ProofError as above
 */
export function openSlots(suite: HashSuite, keys: readonly string[], proofs: unknown): OpenedKey[] {
  check(Array.isArray(proofs), "storageProofs", "not an array");
  check(proofs.length === keys.length, "storageProofs", `${proofs.length} entries for ${keys.length} keys`);
  return keys.map((key, i) => {
    const at = `storageProofs[${i}]`;
    const slot = openKey(suite, readStorageKey(suite, key), at, proofs[i]);
    check(!("leaf" in slot) || slot.value.length === 32, at, "the value is not 32 bytes");
    return slot;
  });
}

function openKey(suite: HashSuite, key: AskedKey, at: string, entry: unknown): OpenedKey {
  const [echo] = readFields(at, entry, ["key"]);
  check(echo === key.text, `${at}.key`, `is not ${key.text}`);
  if (isObject(entry) && "leafIndex" in entry) {
    const [leafIndex, proof] = readFields(at, entry, ["leafIndex", "proof"]);
    return openLeaf(suite, `${at}.proof`, leafIndex, proof);
  }
  const fields = ["leftLeafIndex", "leftProof", "rightLeafIndex", "rightProof"];
  const [leftLeafIndex, leftProof, rightLeafIndex, rightProof] = readFields(at, entry, fields);
  const left = openLeaf(suite, `${at}.leftProof`, leftLeafIndex, leftProof);
  const right = openLeaf(suite, `${at}.rightProof`, rightLeafIndex, rightProof);
  check(left.nextFreeNode === right.nextFreeNode, at, "its leaves are of two trees");
  return {nextFreeNode: left.nextFreeNode, left: left.leaf, right: right.leaf};
}

function openLeaf(
  suite: HashSuite,
  at: string,
  index: unknown,
  proof: unknown,
): {nextFreeNode: number; leaf: OpenedLeaf; value: Uint8Array} {
  const {leafIndex, nextFreeNode, opening, value, preImages} = readLeafProof(suite, at, index, proof);
  // Copies: those of empty sub-trees belong to the suite, and this goes to a caller who may write into it.
  const siblings = hashSiblings(suite, preImages).map(sibling => sibling.slice());
  return {nextFreeNode, leaf: {leafIndex, ...opening, siblings}, value};
}
