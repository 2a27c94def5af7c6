/**
 * Leaves with all of their siblings' hashes, of which a compact proof is made.
 *
 *   answer of chain_getProof  ->  OpenedEntry  ->  compact form
 */
import {isEqual} from "../bytes/byteString.ts";
import {type HashSuite, type Leaf, newTreeRoot} from "../hash/hashSuites.ts";
import {ACCOUNT_VALUE_BYTES} from "../proof/account.ts";
import {readKey} from "../proof/keyProof.ts";
import {hashSiblings, type LeafProof} from "../proof/leafProof.ts";
import {type AskedKey, type ProofEntry, readAddress, readEntry, readStorageKeys} from "../proof/request.ts";
import {check, checkSize, readArray, readFields} from "../proof/strictJson.ts";

export interface OpenedLeaf extends Leaf {
  /** By height, 0 to 39: 32 bytes each. Empty ones are there too. */
  readonly siblings: readonly Uint8Array[];
}

/** The leaves that prove a key, and its value if it exists: 192 bytes of an account, 32 of a slot. */
export type OpenedKey = {readonly nextFreeNode: number} & (
  | {readonly leaf: OpenedLeaf; readonly value: Uint8Array}
  | {readonly left: OpenedLeaf; readonly right: OpenedLeaf}
);

export interface OpenedEntry {
  readonly account: OpenedKey;
  /** One per slot of the request; none if the account is absent or has no storage: then every slot is absent. */
  readonly slots: readonly OpenedKey[];
}

/** Reads the `result` of chain_getProof. @throws ProofError unless it has the form of docs/proofs.md, section 5 */
export function openAnswer(suite: HashSuite, request: ProofEntry, result: unknown): OpenedEntry {
  const {address, storageKeys} = readEntry(request);
  const [accountProof, storageProofs] = readFields("result", result, ["accountProof", "storageProofs"]);
  const account = openKey(suite, readAddress(suite, address), "accountProof", accountProof);
  if (!("leaf" in account)) return {account, slots: []};
  checkSize("accountProof.proof.value", account.value, ACCOUNT_VALUE_BYTES);
  const hasStorage = !isEqual(account.value.subarray(64, 96), newTreeRoot(suite));
  return {account, slots: hasStorage ? openSlots(suite, storageKeys, storageProofs) : []};
}

export function openSlots(suite: HashSuite, keys: unknown, proofs: unknown): OpenedKey[] {
  const asked = readStorageKeys(suite, keys);
  return readArray("storageProofs", proofs, asked.length, (entry, i) => {
    const at = `storageProofs[${i}]`;
    const slot = openKey(suite, asked[i] as AskedKey, at, entry);
    if ("leaf" in slot) checkSize(`${at}.proof.value`, slot.value, 32);
    return slot;
  });
}

function openKey(suite: HashSuite, key: AskedKey, at: string, entry: unknown): OpenedKey {
  const openLeaf = ({leafIndex, prev, next, hKey, hVal, preImages}: LeafProof): OpenedLeaf => {
    // Copies: the caller may write into them, and those of empty sub-trees belong to the suite.
    const siblings = hashSiblings(suite, preImages).map(sibling => sibling.slice());
    return {leafIndex, prev, next, hKey, hVal, siblings};
  };
  const proof = readKey(suite, key, at, entry);
  if ("own" in proof) {
    const {nextFreeNode, value} = proof.own;
    return {nextFreeNode, leaf: openLeaf(proof.own), value};
  }
  const {left, right} = proof;
  check(left.nextFreeNode === right.nextFreeNode, at, "its leaves are of two trees");
  return {nextFreeNode: left.nextFreeNode, left: openLeaf(left), right: openLeaf(right)};
}
