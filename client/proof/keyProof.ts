/** The proof of one key in an answer of chain_getProof (docs/proofs.md, sections 5 and 6): it exists, or it is absent. */
import {compareBytes, isEqual} from "../bytes/byteString.ts";
import {type HashSuite, hashSlotValue, readWord} from "../hash/hashSuites.ts";
import {ACCOUNT_VALUE_BYTES, checkAccountValue} from "./account.ts";
import {type ProvenLeaf, type TreeKind, verifyLeaf} from "./leafProof.ts";
import type {AskedKey} from "./request.ts";
import {check, isObject, readFields} from "./strictJson.ts";

const SLOT_VALUE_BYTES = 32;

export function accountTree(suite: HashSuite): TreeKind {
  return {
    valueBytes: ACCOUNT_VALUE_BYTES,
    hashValue: (value, at) => {
      checkAccountValue(suite, value, at);
      return suite.hashAccountValue(value);
    },
  };
}

export function storageTree(suite: HashSuite): TreeKind {
  return {valueBytes: SLOT_VALUE_BYTES, hashValue: value => hashSlotValue(suite, readWord(value))};
}

/**
 * @param at - the entry's place in the answer
 * @param entry - of the answer, parsed
 * @returns the key's leaf, or undefined if its absence is proven
 * @throws ProofError
 */
export function verifyKey(
  suite: HashSuite,
  kind: TreeKind,
  root: Uint8Array,
  {text, hKey}: AskedKey,
  at: string,
  entry: unknown,
): ProvenLeaf | undefined {
  if (isObject(entry) && "leafIndex" in entry) {
    const [echo, leafIndex, proof] = readFields(at, entry, ["key", "leafIndex", "proof"]);
    check(echo === text, `${at}.key`, `is not ${text}`);
    const leaf = verifyLeaf(suite, kind, root, `${at}.proof`, leafIndex, proof);
    check(leaf.leafIndex >= 2, `${at}.leafIndex`, "head or tail stands for a key");
    check(isEqual(leaf.opening.hKey, hKey), `${at}.proof`, "hKey of the leaf does not belong to the key");
    return leaf;
  }
  const fields = ["key", "leftLeafIndex", "leftProof", "rightLeafIndex", "rightProof"];
  const [echo, leftLeafIndex, leftProof, rightLeafIndex, rightProof] = readFields(at, entry, fields);
  check(echo === text, `${at}.key`, `is not ${text}`);
  const left = verifyLeaf(suite, kind, root, `${at}.leftProof`, leftLeafIndex, leftProof);
  const right = verifyLeaf(suite, kind, root, `${at}.rightProof`, rightLeafIndex, rightProof);
  checkAbsence(
    hKey,
    {leafIndex: left.leafIndex, ...left.opening},
    {leafIndex: right.leafIndex, ...right.opening},
    {
      left: `${at}.leftProof`,
      right: `${at}.rightProof`,
    },
  );
  return undefined;
}

/** What absence depends on in each of its two leaves. */
export interface Neighbour {
  readonly leafIndex: number;
  readonly prev: number;
  readonly next: number;
  /** 32 bytes. */
  readonly hKey: Uint8Array;
}

/**
 * Step 7 of docs/proofs.md, section 6: the key lies between two leaves that are neighbours in the list.
 *
 * @throws ProofError
 */
export function checkAbsence(
  hKey: Uint8Array,
  left: Neighbour,
  right: Neighbour,
  at: {readonly left: string; readonly right: string},
): void {
  check(compareBytes(left.hKey, hKey) < 0, at.left, "hKey of the left leaf is not below the key's");
  check(compareBytes(hKey, right.hKey) < 0, at.right, "hKey of the right leaf is not above the key's");
  check(left.next === right.leafIndex, at.left, "next of the left leaf is not the right leaf");
  check(right.prev === left.leafIndex, at.right, "prev of the right leaf is not the left leaf");
}
