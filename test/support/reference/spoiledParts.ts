/**
 * Proof bytes that a careless or hostile prover might send, and the complaint that each must cause: a valid proof of
 * compactCases.ts, spoiled.
 */
import {concatBytes} from "../../../client/bytes/byteString.ts";
import type {LeafContent} from "../../../client/compact/treePart.ts";
import {type HashSuite, newTreeRoot, zeroSubTrees} from "../../../client/hash/hashSuites.ts";
import type {CompactCases, CompactRequestName} from "./compactCases.ts";
import {editProof, insertSibling, type EditedLeaf as Leaf, type EditedPart as Part} from "./editedProof.ts";

export interface SpoiledPart {
  /** Completes "a proof that ...". */
  readonly name: string;
  readonly request: CompactRequestName;
  /** The verifier's message. */
  readonly complaint: RegExp;
  readonly spoil: (proof: ValidProof) => Uint8Array;
}

interface ValidProof {
  readonly cases: CompactCases;
  readonly suite: HashSuite;
  readonly bytes: Uint8Array;
  /** Writes the proof again, its part changed. */
  edit(change: (part: Part, storage: Part) => void): Uint8Array;
}

/** @returns the spoiled bytes */
export function spoilProof(cases: CompactCases, {request: name, spoil}: SpoiledPart): Uint8Array {
  const {suite} = cases;
  const valid = cases.prove(name);
  const {bytes} = valid;
  const edit: ValidProof["edit"] = change => editProof(suite, valid, change);
  return spoil({cases, suite, bytes, edit});
}

/** Of a proof of one present account: 0x01, nextFreeNode, n, key table, leaf index, prev, next, bitmap, flags. */
const AT = {n: 6, keys: 8, flags: 30};

function splice(bytes: Uint8Array, at: number, drop: number, insert: Iterable<number>): Uint8Array {
  return concatBytes(bytes.subarray(0, at), Uint8Array.from(insert), bytes.subarray(at + drop));
}

function leafOf(part: Part, role: LeafContent["role"]): Leaf {
  const leaf = part.leaves.find(({content}) => content.role === role);
  if (leaf === undefined) throw new Error(`no leaf is ${role}`);
  return leaf;
}

export const SIBLING = new Uint8Array(32).fill(1);

export const SPOILED_PARTS: readonly SpoiledPart[] = [
  {
    name: "is empty",
    request: "many",
    complaint: /byte 0: 1 bytes expected, 0 left/,
    spoil: () => new Uint8Array(),
  },
  {
    name: "begins as a proof of one storage tree",
    request: "many",
    complaint: /byte 0: is not 1/,
    spoil: ({bytes}) => splice(bytes, 0, 1, [0x02]),
  },
  {
    name: "lacks its last byte",
    request: "many",
    complaint: /32 bytes expected, 31 left/,
    spoil: ({bytes}) => bytes.subarray(0, -1),
  },
  {
    name: "has a byte more",
    request: "many",
    complaint: /1 bytes after the proof/,
    spoil: ({bytes}) => splice(bytes, bytes.length, 0, [0]),
  },
  {
    name: "has no leaves",
    request: "plain",
    complaint: /0 leaves for 1 keys/,
    spoil: ({bytes}) => splice(bytes, AT.n, 2, [0, 0]),
  },
  {
    name: "has more leaves than two for each key",
    request: "plain",
    complaint: /65535 leaves for 1 keys/,
    spoil: ({bytes}) => splice(bytes, AT.n, 2, [0xff, 0xff]),
  },
  {
    name: "names a right leaf with the highest bit set",
    request: "absent",
    complaint: /highest bit/,
    spoil: ({bytes}) => splice(bytes, AT.keys + 2, 1, [0x80]),
  },
  {
    name: "names a leaf that is not there",
    request: "many",
    complaint: /names leaf 7 of/,
    spoil: ({edit}) =>
      edit(part => {
        part.keys[0] = {leaf: 7};
      }),
  },
  {
    name: "names one leaf for two keys",
    request: "pair",
    complaint: /names the leaf of another key/,
    spoil: ({cases}) => cases.prove("twice").bytes,
  },
  {
    name: "has a leaf that serves no key",
    request: "plain",
    complaint: /leaf 1 serves no key/,
    spoil: ({edit}) =>
      edit(part => {
        part.leaves.push({...leafOf(part, "account"), leafIndex: 9});
      }),
  },
  {
    name: "has its leaves in descending order",
    request: "pair",
    complaint: /leaf indexes do not ascend/,
    spoil: ({edit}) =>
      edit(part => {
        part.leaves.reverse();
        part.keys.reverse();
      }),
  },
  {
    name: "has a leaf twice",
    request: "pair",
    complaint: /leaf indexes do not ascend/,
    spoil: ({edit}) =>
      edit(part => {
        for (const leaf of part.leaves) leaf.leafIndex = 9;
      }),
  },
  {
    name: "has a storage tree that is new",
    request: "slots",
    complaint: /storageTree: nextFreeNode is below 3/,
    spoil: ({edit}) =>
      edit((_, storage) => {
        storage.nextFreeNode = 2;
      }),
  },
  {
    name: "has another nextFreeNode",
    request: "plain",
    complaint: /does not fold to the trusted root/,
    spoil: ({edit}) =>
      edit(part => {
        part.nextFreeNode++;
      }),
  },
  {
    name: "has a leaf at nextFreeNode",
    request: "plain",
    complaint: /leaf index is not below nextFreeNode/,
    spoil: ({edit}) =>
      edit(part => {
        part.nextFreeNode = leafOf(part, "account").leafIndex;
      }),
  },
  {
    name: "has a leaf at the last position of all",
    request: "plain",
    complaint: /leaf index is not below nextFreeNode/,
    spoil: ({edit}) =>
      edit(part => {
        leafOf(part, "account").leafIndex = 2 ** 40 - 1;
      }),
  },
  {
    name: "has a previous leaf at nextFreeNode",
    request: "plain",
    complaint: /prev is not below nextFreeNode/,
    spoil: ({edit}) =>
      edit(part => {
        leafOf(part, "account").prev = part.nextFreeNode;
      }),
  },
  {
    name: "has a next leaf at nextFreeNode",
    request: "plain",
    complaint: /next is not below nextFreeNode/,
    spoil: ({edit}) =>
      edit(part => {
        leafOf(part, "account").next = part.nextFreeNode;
      }),
  },
  {
    name: "has a key at the head's position",
    request: "plain",
    complaint: /head or tail stands for a key/,
    spoil: ({edit}) =>
      edit(part => {
        leafOf(part, "account").leafIndex = 0;
      }),
  },
  {
    name: "has a list that goes on before the head",
    request: "absent",
    complaint: /the list goes on beyond head or tail/,
    spoil: ({edit}) =>
      edit(part => {
        part.leaves[0] = {...(part.leaves[0] as Leaf), leafIndex: 0, prev: 2, content: {role: "end"}};
      }),
  },
  {
    name: "has a list that goes on behind the tail",
    request: "absent",
    complaint: /the list goes on beyond head or tail/,
    spoil: ({edit}) =>
      edit(part => {
        part.leaves[0] = {...(part.leaves[0] as Leaf), leafIndex: 1, next: 2, content: {role: "end"}};
      }),
  },
  {
    name: "has a number with a leading zero byte",
    request: "contract",
    complaint: /a number begins with a zero byte/,
    spoil: ({bytes}) => splice(splice(bytes, AT.flags + 1, 0, [0]), AT.flags, 1, [0xc2]),
  },
  {
    name: "has a nonce of 33 bytes",
    request: "contract",
    complaint: /a number of 33 bytes/,
    spoil: ({bytes}) => splice(bytes, AT.flags, 1, [0xc0 + 33]),
  },
  {
    name: "has a balance of 33 bytes",
    request: "contract",
    complaint: /a number of 33 bytes/,
    spoil: ({bytes}) => splice(bytes, AT.flags + 2, 1, [33]),
  },
  {
    name: "has code of size zero",
    request: "contract",
    complaint: /codeSize is zero/,
    spoil: ({bytes}) => splice(bytes, AT.flags + 5, 2, [0]),
  },
  {
    name: "has a slot that is zero",
    request: "slots",
    complaint: /a slot is stored as zero/,
    spoil: ({edit}) =>
      edit((_, storage) => {
        leafOf(storage, "slot").content = {role: "slot", value: 0n};
      }),
  },
  {
    name: "sends the storageRoot of a new tree",
    request: "plain",
    complaint: /the storageRoot of a new tree is sent/,
    // After the flags: the length of the balance, and its byte.
    spoil: ({bytes, suite}) =>
      splice(splice(bytes, AT.flags + 3, 0, newTreeRoot(suite)), AT.flags, 1, [0x80]),
  },
  {
    name: "has a bit where another leaf gives the sibling",
    request: "pair",
    complaint: /a sibling of height \d+ that other leaves give/,
    spoil: ({edit}) =>
      edit(part => {
        const [first, second] = part.leaves as [Leaf, Leaf];
        let height = 0;
        while (
          Math.floor(first.leafIndex / 2 ** (height + 1)) !== Math.floor(second.leafIndex / 2 ** (height + 1))
        )
          height++;
        insertSibling(second, height, SIBLING);
      }),
  },
  {
    name: "has a bit at the height where its leaf waits",
    request: "pair",
    complaint: /the bitmap has bits above the leaf's way/,
    spoil: ({edit}) =>
      edit(part => {
        insertSibling(part.leaves[0] as Leaf, 39, SIBLING);
      }),
  },
  {
    name: "sends an empty sibling",
    request: "plain",
    complaint: /an empty sibling of height 39/,
    spoil: ({edit, suite}) =>
      edit(part => {
        insertSibling(leafOf(part, "account"), 39, zeroSubTrees(suite)[39] as Uint8Array);
      }),
  },
  {
    name: "has a sibling beyond nextFreeNode",
    request: "plain",
    complaint: /the sibling of height 39 lies at or beyond nextFreeNode/,
    spoil: ({edit}) =>
      edit(part => {
        insertSibling(leafOf(part, "account"), 39, SIBLING);
      }),
  },
  {
    name: "has two siblings exchanged",
    request: "plain",
    complaint: /does not fold to the trusted root/,
    spoil: ({edit}) =>
      edit(part => {
        const leaf = leafOf(part, "account");
        leaf.siblings = [...leaf.siblings].reverse();
      }),
  },
  {
    name: "is another account's",
    request: "plain",
    complaint: /does not fold to the trusted root/,
    spoil: ({cases}) => cases.prove("other").bytes,
  },
  {
    name: "is of an older block",
    request: "contract",
    complaint: /does not fold to the trusted root/,
    spoil: ({cases}) => cases.prove("contract", 0).bytes,
  },
  {
    name: "changes a slot's value",
    request: "slots",
    complaint: /does not fold to the trusted root/,
    spoil: ({edit}) =>
      edit((_, storage) => {
        leafOf(storage, "slot").content = {role: "slot", value: 99n};
      }),
  },
  {
    name: "has two leaves for an absent key that are exchanged",
    request: "absent",
    complaint: /hKey of the left leaf is not below the key's/,
    spoil: ({edit}) =>
      edit(part => {
        const [place] = part.keys;
        if (place !== undefined && "left" in place) part.keys[0] = {left: place.right, right: place.left};
      }),
  },
  {
    name: "has a left leaf whose next is another",
    request: "absent",
    complaint: /next of the left leaf is not the right leaf/,
    spoil: ({edit}) =>
      edit(part => {
        const [place] = part.keys;
        const left = part.leaves[place !== undefined && "left" in place ? place.left : -1] as Leaf;
        left.next = left.leafIndex;
      }),
  },
  {
    name: "has a right leaf whose prev is another",
    request: "absent",
    complaint: /prev of the right leaf is not the left leaf/,
    spoil: ({edit}) =>
      edit(part => {
        const [place] = part.keys;
        const right = part.leaves[place !== undefined && "left" in place ? place.right : -1] as Leaf;
        right.prev = right.leafIndex;
      }),
  },
];
