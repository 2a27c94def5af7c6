/** The JSON of a tree part (docs/proofs.md, section 11): the fields of its bytes, in words. */
import {encodeHex} from "../bytes/hex.ts";
import {readWord, word} from "../hash/hashSuites.ts";
import {ACCOUNT_VALUE_BYTES, encodeAccount} from "../proof/account.ts";
import type {ProvenAccount} from "../proof/proofVerifier.ts";
import {check, isObject, readBytes, readFields, readNatural} from "../proof/strictJson.ts";
import {type Asked, type AskedAccounts, slotsOf} from "./askedKeys.ts";
import {assignRoles, keysOfLeaves, type LeafRole} from "./keyTable.ts";
import {
  type KeyPlace,
  LEAF_POSITIONS,
  type LeafContent,
  type PartLeaf,
  readAccountContent,
  type TreePart,
} from "./treePart.ts";

const BITMAP_BYTES = 5;

export interface LeafJson {
  readonly leafIndex: number;
  readonly prev: number;
  readonly next: number;
  readonly value?: string;
  readonly hKey?: string;
  readonly hVal?: string;
  readonly storageTree?: TreePartJson;
  readonly bitmap: string;
  readonly siblings: readonly string[];
}

export interface TreePartJson {
  readonly nextFreeNode: number;
  readonly keys: readonly KeyPlace[];
  readonly leaves: readonly LeafJson[];
}

/** @throws ProofError if the JSON is no tree part for the keys asked for. The part is not verified yet */
export function readPartJson(at: string, json: unknown, asked: Asked): TreePart {
  const [free, keyList, leafList] = readFields(at, json, ["nextFreeNode", "keys", "leaves"]);
  const nextFreeNode = readNatural(`${at}.nextFreeNode`, free, LEAF_POSITIONS);
  const {length} = asked.hKeys;
  check(Array.isArray(keyList), `${at}.keys`, "not an array");
  check(keyList.length === length, `${at}.keys`, `${keyList.length} entries for ${length} keys`);
  check(Array.isArray(leafList), `${at}.leaves`, "not an array");
  check(leafList.length <= 2 * length, `${at}.leaves`, `${leafList.length} leaves for ${length} keys`);
  const keys = keyList.map((place, i) => readPlace(`${at}.keys[${i}]`, place));
  const leafIndexes = leafList.map((leaf, k) => {
    const [leafIndex] = readFields(`${at}.leaves[${k}]`, leaf, ["leafIndex"]);
    return readNatural(`${at}.leaves[${k}].leafIndex`, leafIndex, LEAF_POSITIONS);
  });
  const roles = assignRoles(at, keys, leafIndexes);
  const named = keysOfLeaves(keys, leafList.length);
  const leaves = leafList.map((leaf, k): PartLeaf => {
    const here = `${at}.leaves[${k}]`;
    const [prev, next, bitmap, siblings] = readFields(here, leaf, ["prev", "next", "bitmap", "siblings"]);
    check(Array.isArray(siblings), `${here}.siblings`, "not an array");
    check(siblings.length <= 8 * BITMAP_BYTES, `${here}.siblings`, `${siblings.length} siblings`);
    return {
      leafIndex: leafIndexes[k] as number,
      prev: readNatural(`${here}.prev`, prev, LEAF_POSITIONS),
      next: readNatural(`${here}.next`, next, LEAF_POSITIONS),
      content: readContent(here, leaf, asked, roles[k] as LeafRole, named[k] as readonly number[]),
      bitmap: Number(encodeHex(readBytes(`${here}.bitmap`, bitmap, BITMAP_BYTES))),
      siblings: siblings.map((sibling, i) => readBytes(`${here}.siblings[${i}]`, sibling, 32)),
    };
  });
  return {nextFreeNode, keys, leaves};
}

function readPlace(at: string, place: unknown): KeyPlace {
  const read = (name: string) => {
    const [leaf] = readFields(at, place, [name]);
    return readNatural(`${at}.${name}`, leaf, 0x8000);
  };
  return isObject(place) && "leaf" in place
    ? {leaf: read("leaf")}
    : {left: read("left"), right: read("right")};
}

function readContent(
  at: string,
  leaf: unknown,
  asked: Asked,
  role: LeafRole,
  named: readonly number[],
): LeafContent {
  if (role === "end") return {role};
  const read = (name: string, size: number) =>
    readBytes(`${at}.${name}`, readFields(at, leaf, [name])[0], size);
  if (role === "neighbour") return {role, hKey: read("hKey", 32), hVal: read("hVal", 32)};
  if (asked.tree === "slots") return {role: "slot", value: readWord(read("value", 32))};
  const value = read("value", ACCOUNT_VALUE_BYTES);
  return {...readAccountContent(value), storage: readStorage(at, leaf, asked, named)};
}

function readStorage(
  at: string,
  leaf: unknown,
  asked: AskedAccounts,
  named: readonly number[],
): TreePart | undefined {
  if (!isObject(leaf) || !("storageTree" in leaf)) return undefined;
  const hKeys = slotsOf(asked, named);
  check(hKeys.length > 0, at, "a storage part, and no slot is asked for");
  return readPartJson(`${at}.storageTree`, leaf.storageTree, {tree: "slots", hKeys});
}

/** @param accounts - per leaf, as verified: they have the storageRoots that the part may lack. None in a storage tree */
export function writePartJson(
  part: TreePart,
  accounts: readonly (ProvenAccount | undefined)[],
): TreePartJson {
  return {
    nextFreeNode: part.nextFreeNode,
    keys: part.keys,
    leaves: part.leaves.map(({leafIndex, prev, next, content, bitmap, siblings}, k) => {
      return {
        ...{leafIndex, prev, next},
        ...writeContent(content, accounts[k]),
        bitmap: encodeHex(word(bitmap).subarray(32 - BITMAP_BYTES)),
        siblings: siblings.map(encodeHex),
      };
    }),
  };
}

function writeContent(content: LeafContent, account: ProvenAccount | undefined): Partial<LeafJson> {
  if (content.role === "end") return {};
  if (content.role === "neighbour") return {hKey: encodeHex(content.hKey), hVal: encodeHex(content.hVal)};
  if (content.role === "slot") return {value: encodeHex(word(content.value))};
  const value = encodeHex(encodeAccount(account as ProvenAccount));
  return content.storage === undefined ? {value} : {value, storageTree: writePartJson(content.storage, [])};
}
