/** Account trees that fold to their root and yet break a rule, and the proofs that they give. */

import {decodeHex} from "../../../client/bytes/hex.ts";
import {sha256Suite, word, ZERO_WORD} from "../../../client/hash/hashSuites.ts";
import {type ForgedLeaf, forgeTree} from "./forgedTree.ts";
import type {ProofResult} from "./referenceState.ts";

export const PRESENT = "0x2400000000000000000000000000000000000000";

/** An account's leaf for PRESENT between head and tail, at position 2. */
const VALUE = Buffer.concat([1, 2, 3, 4, 5, 6].map(word));
export const HEAD: ForgedLeaf = {prev: 0, next: 2, hKey: ZERO_WORD, hVal: ZERO_WORD, value: ZERO_WORD};
export const TAIL: ForgedLeaf = {
  prev: 2,
  next: 1,
  hKey: sha256Suite.tailKey,
  hVal: ZERO_WORD,
  value: ZERO_WORD,
};
export const LEAF: ForgedLeaf = {
  prev: 0,
  next: 1,
  hKey: sha256Suite.hashAddress(decodeHex(PRESENT)),
  hVal: sha256Suite.hashAccountValue(VALUE),
  value: VALUE,
};
const LONG_VALUE = Buffer.concat([VALUE, word(7)]);

/** An account tree that no operations make. The proof: PRESENT exists at `present`, or is absent between head and tail. */
export interface Forgery {
  /** Completes "a tree with ...". */
  readonly name: string;
  readonly nextFreeNode: number;
  readonly leaves: Readonly<Record<number, ForgedLeaf>>;
  readonly present?: number;
  /** The verifier's message about the answer of chain_getProof. */
  readonly complaint: RegExp;
  /** The flaw is a field of the answer that the compact form does not have. Without it, the proof is true. */
  readonly isShownOnly?: true;
}

export const FORGERIES: readonly Forgery[] = [
  {
    name: "a leaf at nextFreeNode",
    nextFreeNode: 2,
    leaves: {0: HEAD, 1: TAIL, 2: LEAF},
    present: 2,
    complaint: /leaf index is not below nextFreeNode/,
  },
  {
    name: "a leaf far beyond nextFreeNode, at the last position of all",
    nextFreeNode: 3,
    leaves: {0: HEAD, 1: TAIL, [2 ** 40 - 1]: LEAF},
    present: 2 ** 40 - 1,
    complaint: /leaf index is not below nextFreeNode/,
  },
  {
    name: "a sibling leaf at nextFreeNode",
    nextFreeNode: 3,
    leaves: {0: HEAD, 1: TAIL, 2: LEAF, 3: LEAF},
    present: 2,
    complaint: /sibling leaf lies at or beyond nextFreeNode/,
  },
  {
    name: "a previous leaf at nextFreeNode",
    nextFreeNode: 3,
    leaves: {0: HEAD, 1: TAIL, 2: {...LEAF, prev: 3}},
    present: 2,
    complaint: /prev is not below/,
  },
  {
    name: "a next leaf at nextFreeNode",
    nextFreeNode: 3,
    leaves: {0: HEAD, 1: TAIL, 2: {...LEAF, next: 3}},
    present: 2,
    complaint: /next is not below/,
  },
  {
    name: "a link beyond 40 bits",
    nextFreeNode: 3,
    leaves: {0: HEAD, 1: TAIL, 2: {...LEAF, next: 2 ** 40 + 1}},
    present: 2,
    complaint: /position is beyond 40 bits/,
  },
  {
    name: "an account value of seven words",
    nextFreeNode: 3,
    leaves: {
      0: HEAD,
      1: TAIL,
      2: {...LEAF, value: LONG_VALUE, hVal: sha256Suite.hashAccountValue(LONG_VALUE)},
    },
    present: 2,
    complaint: /value: is not 192 bytes/,
  },
  {
    name: "a key at the head's position",
    nextFreeNode: 2,
    leaves: {0: LEAF, 1: TAIL},
    present: 0,
    complaint: /hVal of head or tail is not zero/,
  },
  {
    name: "a head with a value",
    nextFreeNode: 2,
    leaves: {0: {...HEAD, next: 1, hVal: word(1)}, 1: {...TAIL, prev: 0}},
    complaint: /leftProof: hVal of head or tail is not zero/,
  },
  {
    name: "a tail with a value",
    nextFreeNode: 2,
    leaves: {0: {...HEAD, next: 1}, 1: {...TAIL, prev: 0, hVal: word(1)}},
    complaint: /rightProof: hVal of head or tail is not zero/,
  },
  {
    name: "a head that shows another value than zero",
    nextFreeNode: 2,
    leaves: {0: {...HEAD, next: 1, value: word(1)}, 1: {...TAIL, prev: 0}},
    complaint: /leftProof\.value: of head or tail is not 32 zero bytes/,
    isShownOnly: true,
  },
  {
    name: "a tail that shows a value of another length",
    nextFreeNode: 2,
    leaves: {0: {...HEAD, next: 1}, 1: {...TAIL, prev: 0, value: new Uint8Array(192)}},
    complaint: /rightProof\.value: of head or tail is not 32 zero bytes/,
    isShownOnly: true,
  },
  {
    name: "a head with a key",
    nextFreeNode: 2,
    leaves: {0: {...HEAD, next: 1, hKey: word(1)}, 1: {...TAIL, prev: 0}},
    complaint: /leftProof: head or tail has another hKey/,
  },
  {
    name: "a tail with another key",
    nextFreeNode: 2,
    leaves: {0: {...HEAD, next: 1}, 1: {...TAIL, prev: 0, hKey: word(2n ** 256n - 2n)}},
    complaint: /rightProof: head or tail has another hKey/,
  },
  {
    name: "a head that follows another leaf",
    nextFreeNode: 2,
    leaves: {0: {...HEAD, next: 1, prev: 1}, 1: {...TAIL, prev: 0}},
    complaint: /leftProof: the list continues beyond head or tail/,
  },
  {
    name: "a tail that another leaf follows",
    nextFreeNode: 2,
    leaves: {0: {...HEAD, next: 1}, 1: {...TAIL, prev: 0, next: 0}},
    complaint: /rightProof: the list continues beyond head or tail/,
  },
  {
    name: "a list that skips a leaf forwards but not backwards",
    nextFreeNode: 3,
    leaves: {0: {...HEAD, next: 1}, 1: TAIL, 2: LEAF},
    complaint: /prev of the right leaf is not the left leaf/,
  },
];

/** @returns the root, and the answer of chain_getProof for PRESENT without slots */
export function proveForgery({
  nextFreeNode,
  leaves,
  present,
}: Pick<Forgery, "nextFreeNode" | "leaves" | "present">): {root: Uint8Array; answer: ProofResult} {
  const {root, proveLeaf} = forgeTree(sha256Suite, nextFreeNode, leaves);
  const accountProof =
    present === undefined
      ? {
          key: PRESENT,
          leftLeafIndex: 0,
          leftProof: proveLeaf(0),
          rightLeafIndex: 1,
          rightProof: proveLeaf(1),
        }
      : {key: PRESENT, leafIndex: present, proof: proveLeaf(present)};
  return {root, answer: {accountProof, storageProofs: []}};
}
