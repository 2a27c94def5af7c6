/** Trees that fold to their root and yet break a rule: the verifier refuses what they prove. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {decodeHex, encodeHex} from "../../../../client/bytes/hex.ts";
import {hashSlot, hashSlotValue, sha256Suite, word, ZERO_WORD} from "../../../../client/hash/hashSuites.ts";
import {verifyProof} from "../../../support/reference/exactProof.ts";
import {type ForgedLeaf, forgeTree} from "../../../support/reference/forgedTree.ts";
import {
  type AbsenceProof,
  type ExistenceProof,
  ReferenceTree,
} from "../../../support/reference/referenceTree.ts";

const PRESENT = "0x2400000000000000000000000000000000000000";

/** An account tree made by hand, with the value that it claims to hold for PRESENT. */
function forge(storage: ReferenceTree, spoilValue: (value: Buffer) => void = () => {}) {
  const suite = sha256Suite;
  const tree = ReferenceTree.create(suite);
  const value = Buffer.concat([word(1), word(2), storage.topRoot(), word(3), word(4), word(5)]);
  const hVal = suite.hashAccountValue(value);
  const hKey = suite.hashAddress(decodeHex(PRESENT));
  spoilValue(value);
  tree.put(hKey, hVal, value);
  return {root: tree.topRoot(), accountProof: tree.prove(PRESENT, hKey)};
}

test("a value that its leaf does not commit to is refused, though every node folds to the root", () => {
  const {root, accountProof} = forge(ReferenceTree.create(sha256Suite), value => value.writeUInt8(9, 31));
  assert.throws(
    () => verifyProof(sha256Suite, root, PRESENT, [], {accountProof, storageProofs: []}),
    /does not hash to hVal/,
  );
});

test("a slot that is stored as zero is refused, though every node folds to the root", () => {
  const storage = ReferenceTree.create(sha256Suite);
  const hKey = hashSlot(sha256Suite, 1n);
  storage.put(hKey, hashSlotValue(sha256Suite, 0n), word(0));
  const {root, accountProof} = forge(storage);
  const storageProofs = [storage.prove(encodeHex(word(1)), hKey)];
  assert.throws(
    () => verifyProof(sha256Suite, root, PRESENT, ["0x1"], {accountProof, storageProofs}),
    /stored as zero/,
  );
});

test("a slot of another storage tree is refused", () => {
  const storage = ReferenceTree.create(sha256Suite);
  const hKey = hashSlot(sha256Suite, 1n);
  const {root, accountProof} = forge(storage);
  storage.put(hKey, hashSlotValue(sha256Suite, 5n), word(5));
  const storageProofs = [storage.prove(encodeHex(word(1)), hKey)];
  assert.throws(
    () => verifyProof(sha256Suite, root, PRESENT, ["0x1"], {accountProof, storageProofs}),
    /trusted root/,
  );
});

test("the leaf of another key is refused as a key's own", () => {
  const storage = ReferenceTree.create(sha256Suite);
  const hKey = hashSlot(sha256Suite, 1n);
  storage.put(hKey, hashSlotValue(sha256Suite, 5n), word(5));
  const {root, accountProof} = forge(storage);
  const storageProofs = [storage.prove(encodeHex(word(2)), hKey)];
  assert.throws(
    () => verifyProof(sha256Suite, root, PRESENT, ["0x2"], {accountProof, storageProofs}),
    /hKey of the leaf does not belong/,
  );
});

test("absence is refused where the two leaves are no neighbours, or do not enclose the key", () => {
  const suite = sha256Suite;
  const storage = ReferenceTree.create(suite);
  const [low, middle, high] = [1n, 2n, 3n].sort((a, b) =>
    Buffer.compare(hashSlot(suite, a), hashSlot(suite, b)),
  ) as [bigint, bigint, bigint];
  storage.put(hashSlot(suite, middle), hashSlotValue(suite, 5n), word(5));
  const {root, accountProof} = forge(storage);
  const prove = (slot: bigint) => storage.prove(encodeHex(word(slot)), hashSlot(suite, slot)) as AbsenceProof;
  const verify = (slot: bigint, proof: AbsenceProof | ExistenceProof) =>
    verifyProof(suite, root, PRESENT, [`0x${slot}`], {accountProof, storageProofs: [proof]});

  assert.deepEqual(verify(low, prove(low)).slots, [undefined]);
  // Head and tail enclose the slot that is there, and belong to the root: only the links tell.
  const {rightLeafIndex, rightProof} = prove(high);
  assert.throws(
    () => verify(middle, {...prove(low), key: encodeHex(word(middle)), rightLeafIndex, rightProof}),
    /next of the left leaf/,
  );
  assert.throws(() => verify(high, {...prove(low), key: encodeHex(word(high))}), /right leaf is not above/);
  assert.throws(() => verify(low, {...prove(high), key: encodeHex(word(low))}), /left leaf is not below/);
  // The slot itself as one of its own neighbours.
  assert.throws(
    () => verify(middle, {...prove(low), key: encodeHex(word(middle))}),
    /right leaf is not above/,
  );
  assert.throws(
    () => verify(middle, {...prove(high), key: encodeHex(word(middle))}),
    /left leaf is not below/,
  );
});

/** An account's leaf for PRESENT between head and tail, at position 2. */
const VALUE = Buffer.concat([1, 2, 3, 4, 5, 6].map(word));
const HEAD: ForgedLeaf = {prev: 0, next: 2, hKey: ZERO_WORD, hVal: ZERO_WORD, value: ZERO_WORD};
const TAIL: ForgedLeaf = {prev: 2, next: 1, hKey: sha256Suite.tailKey, hVal: ZERO_WORD, value: ZERO_WORD};
const LEAF: ForgedLeaf = {
  prev: 0,
  next: 1,
  hKey: sha256Suite.hashAddress(decodeHex(PRESENT)),
  hVal: sha256Suite.hashAccountValue(VALUE),
  value: VALUE,
};
const LONG_VALUE = Buffer.concat([VALUE, word(7)]);

/** Existence of PRESENT where it has a leaf at `present`, else its absence between head and tail. */
const FORGERIES: readonly {
  name: string;
  nextFreeNode: number;
  leaves: Record<number, ForgedLeaf>;
  present?: number;
  complaint: RegExp;
}[] = [
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
  },
  {
    name: "a tail that shows a value of another length",
    nextFreeNode: 2,
    leaves: {0: {...HEAD, next: 1}, 1: {...TAIL, prev: 0, value: new Uint8Array(192)}},
    complaint: /rightProof\.value: of head or tail is not 32 zero bytes/,
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
    complaint: /leftProof: the list goes on beyond head or tail/,
  },
  {
    name: "a tail that another leaf follows",
    nextFreeNode: 2,
    leaves: {0: {...HEAD, next: 1}, 1: {...TAIL, prev: 0, next: 0}},
    complaint: /rightProof: the list goes on beyond head or tail/,
  },
  {
    name: "a list that skips a leaf forwards but not backwards",
    nextFreeNode: 3,
    leaves: {0: {...HEAD, next: 1}, 1: TAIL, 2: LEAF},
    complaint: /prev of the right leaf is not the left leaf/,
  },
];

for (const {name, nextFreeNode, leaves, present, complaint} of FORGERIES) {
  test(`a tree with ${name} is refused, though every node folds to the root`, () => {
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
    const answer = {accountProof, storageProofs: []};
    assert.throws(() => verifyProof(sha256Suite, root, PRESENT, [], answer), complaint);
  });
}

test("the forged tree with nothing wrong is accepted, so the forgeries fail for their flaw alone", () => {
  const {root, proveLeaf} = forgeTree(sha256Suite, 3, {0: HEAD, 1: TAIL, 2: LEAF});
  const accountProof = {key: PRESENT, leafIndex: 2, proof: proveLeaf(2)};
  const {account} = verifyProof(sha256Suite, root, PRESENT, [], {accountProof, storageProofs: []});
  assert.equal(account?.leafIndex, 2);
});
