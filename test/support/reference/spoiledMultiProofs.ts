/**
 * Answers of chain_getMultiProof that a careless or hostile prover might send, and the complaint that each must cause. They are
 * variations of the JSON of the request `many` of compactCases.ts.
 */
import type {MultiProofJson} from "../../../client/compact/multiProof.ts";
import type {LeafJson} from "../../../client/compact/partJson.ts";

type Mutable<Fields> = {-readonly [Name in keyof Fields]: Fields[Name]};
type LeafFields = Mutable<LeafJson>;

interface PartFields {
  keys: unknown[];
  leaves: LeafFields[];
}

export interface SpoiledMultiProof {
  /** Completes "a multiproof that ...". */
  readonly name: string;
  readonly complaint: RegExp;
  /** Changes the part of the account tree in place. */
  readonly spoil: (part: PartFields) => void;
}

/** The own leaf of the contract, which has a storage part. */
function contractOf({leaves}: PartFields): LeafFields {
  return leaves.find(({storageTree}) => storageTree !== undefined) as LeafFields;
}

function neighbourOf({leaves}: PartFields): LeafFields {
  return leaves.find(({hKey}) => hKey !== undefined) as LeafFields;
}

/** Changes a field of the wrong type as well: JSON has no types. */
function put(leaf: LeafFields, name: keyof LeafFields, value: unknown): void {
  (leaf as Record<string, unknown>)[name] = value;
}

/** @returns the spoiled JSON */
export function spoilMultiProof(json: MultiProofJson, {spoil}: SpoiledMultiProof): MultiProofJson {
  const spoiled = structuredClone(json);
  spoil(spoiled.accountTree as unknown as PartFields);
  return spoiled;
}

export const SPOILED_MULTIPROOFS: readonly SpoiledMultiProof[] = [
  {
    name: "lacks an entry in its key table",
    complaint: /keys: 2 entries for 3 keys/,
    spoil: part => {
      part.keys.pop();
    },
  },
  {
    name: "names a leaf that is not there",
    complaint: /names leaf 9 of/,
    spoil: part => {
      part.keys[0] = {leaf: 9};
    },
  },
  {
    name: "has its keys in an object",
    complaint: /accountTree\.keys: not an array/,
    spoil: part => {
      part.keys = {...part.keys, length: part.keys.length} as unknown as unknown[];
    },
  },
  {
    name: "has its leaves in an object",
    complaint: /accountTree\.leaves: not an array/,
    spoil: part => {
      part.leaves = {...part.leaves, length: part.leaves.length} as unknown as LeafFields[];
    },
  },
  {
    name: "has more leaves than two for each key",
    complaint: /accountTree\.leaves: 7 leaves for 3 keys/,
    spoil: part => {
      part.leaves = Array.from({length: 7}, () => contractOf(part));
    },
  },
  {
    name: "names a leaf by a number alone",
    complaint: /keys\[0\]: not an object/,
    spoil: part => {
      part.keys[0] = 0;
    },
  },
  {
    name: "names a leaf by text",
    complaint: /leaf: is not a natural number/,
    spoil: part => {
      part.keys[0] = {leaf: "0"};
    },
  },
  {
    name: "has its keys in another order",
    complaint: /names the leaf of another key|does not fold|no storage part|storageTree/,
    spoil: part => {
      part.keys.reverse();
    },
  },
  {
    name: "has a leaf index beyond 40 bits",
    complaint: /leafIndex: 1099511627776 is not below 1099511627776/,
    spoil: part => {
      put(contractOf(part), "leafIndex", 2 ** 40);
    },
  },
  {
    name: "has a link that is no integer",
    complaint: /next: is not a natural number/,
    spoil: part => {
      put(contractOf(part), "next", 1.5);
    },
  },
  {
    name: "has a link below zero",
    complaint: /next: is not a natural number/,
    spoil: part => {
      put(contractOf(part), "next", -1);
    },
  },
  {
    name: "has a value of seven words",
    complaint: /value: 224 bytes instead of 192/,
    spoil: part => {
      const leaf = contractOf(part);
      put(leaf, "value", `${leaf.value}${"00".repeat(32)}`);
    },
  },
  {
    name: "has a value in upper case",
    complaint: /value: not lower-case/,
    spoil: part => {
      const leaf = contractOf(part);
      put(leaf, "value", `0x${leaf.value?.slice(2).toUpperCase()}`);
    },
  },
  {
    name: "shows a storageRoot that is not its storage part's",
    complaint: /storageTree has another root/,
    spoil: part => {
      const leaf = contractOf(part);
      put(leaf, "value", `${leaf.value?.slice(0, 2 + 128)}${"00".repeat(32)}${leaf.value?.slice(2 + 192)}`);
    },
  },
  {
    name: "lacks its storage part",
    complaint: /no storage part for the slots asked for/,
    spoil: part => {
      delete contractOf(part).storageTree;
    },
  },
  {
    name: "lacks a neighbour's hVal",
    complaint: /has no hVal/,
    spoil: part => {
      delete neighbourOf(part).hVal;
    },
  },
  {
    name: "has another hKey for a neighbour",
    complaint: /does not fold|hKey of the/,
    spoil: part => {
      const leaf = neighbourOf(part);
      put(leaf, "hKey", leaf.hVal);
    },
  },
  {
    name: "has a bitmap of four bytes",
    complaint: /bitmap: 4 bytes instead of 5/,
    spoil: part => {
      const leaf = contractOf(part);
      put(leaf, "bitmap", leaf.bitmap.slice(0, -2));
    },
  },
  {
    name: "has a leaf's siblings in an object",
    complaint: /siblings: not an array/,
    spoil: part => {
      const leaf = contractOf(part);
      put(leaf, "siblings", {...leaf.siblings, length: leaf.siblings.length});
    },
  },
  {
    name: "has more siblings than heights",
    complaint: /siblings: 41 siblings/,
    spoil: part => {
      put(contractOf(part), "siblings", new Array(41).fill(`0x${"01".repeat(32)}`));
    },
  },
  {
    name: "has more siblings than bits",
    complaint: /more siblings than bits/,
    spoil: part => {
      const leaf = contractOf(part);
      put(leaf, "siblings", [...leaf.siblings, `0x${"01".repeat(32)}`]);
    },
  },
  {
    name: "has fewer siblings than bits",
    complaint: /fewer siblings than bits/,
    spoil: part => {
      const leaf = part.leaves.find(({siblings}) => siblings.length > 0) as LeafFields;
      put(leaf, "siblings", leaf.siblings.slice(1));
    },
  },
  {
    name: "has a sibling of 31 bytes",
    complaint: /siblings\[0\]: 31 bytes instead of 32/,
    spoil: part => {
      const leaf = part.leaves.find(({siblings}) => siblings.length > 0) as LeafFields;
      put(leaf, "siblings", [leaf.siblings[0]?.slice(0, -2), ...leaf.siblings.slice(1)]);
    },
  },
  {
    name: "changes a slot's value",
    complaint: /storageTree has another root/,
    spoil: part => {
      const leaf = contractOf(part).storageTree?.leaves.find(({value}) => value !== undefined) as LeafFields;
      put(leaf, "value", `0x${"00".repeat(31)}63`);
    },
  },
];
