/** Verifies tree parts for the requested keys: checks 4, 6, 8 to 10, 13 to 16 and 18 of docs/proofs.md, section 10. */
import {isEqual} from "../bytes/byteString.ts";
import {
  encodeLeafOpening,
  encodeRootNode,
  type HashSuite,
  type Leaf,
  type LeafOpening,
  readWord,
  ZERO_WORD,
  zeroSubTrees,
} from "../hash/hashSuites.ts";
import {decodeAccount, hashAccount} from "../proof/account.ts";
import {checkAbsence} from "../proof/keyProof.ts";
import {DEPTH, type HashValue, hashSlotBytes} from "../proof/leafProof.ts";
import type {Proven} from "../proof/proofVerifier.ts";
import {check} from "../proof/strictJson.ts";
import {type AskedAccounts, slotsOf} from "./askedKeys.ts";
import {keysOfLeaves, meetingHeight, type OwnContent, type PartLeaf, type TreePart} from "./treePart.ts";

interface VerifiedPart {
  /** The root to which the part folds. The caller compares it. */
  readonly root: Uint8Array;
  /** Per key; undefined: absent. */
  readonly values: readonly (Uint8Array | undefined)[];
}

/** @param minNextFreeNode - 3 within a part of the account tree, where a new tree has another form */
export function verifySlotsPart(
  suite: HashSuite,
  at: string,
  part: TreePart,
  hKeys: readonly Uint8Array[],
  minNextFreeNode: 2 | 3,
): VerifiedPart {
  return verifyPart(suite, at, part, hKeys, minNextFreeNode, hashSlotBytes, ({value}) => value);
}

/** @returns the root, as in a VerifiedPart, and what is proven, per entry of the request */
export function verifyAccountsPart(
  suite: HashSuite,
  part: TreePart,
  asked: AskedAccounts,
): {readonly root: Uint8Array; readonly proven: readonly Proven[]} {
  const named = keysOfLeaves(part.keys, part.leaves.length);
  /** Values of slots, per leaf; undefined: it has no storage part. */
  const storages = new Array<VerifiedPart["values"] | undefined>(part.leaves.length).fill(undefined);
  const readValue = ({value, storage}: OwnContent, leaf: number, here: string): Uint8Array => {
    if (storage === undefined) return value;
    const slots = slotsOf(asked, named[leaf] as readonly number[]);
    const verified = verifySlotsPart(suite, `${here}.storageTree`, storage, slots, 3);
    storages[leaf] = verified.values;
    const whole = value.slice();
    whole.set(verified.root, 64);
    return whole;
  };
  const {root, values} = verifyPart(suite, "accountTree", part, asked.hKeys, 2, hashAccount, readValue);
  // The slots of a leaf are those of its entries, one entry after another.
  const given = new Array<number>(part.leaves.length).fill(0);
  const proven = part.keys.map((place, entry): Proven => {
    const absent = new Array<undefined>(asked.slots[entry]?.length ?? 0).fill(undefined);
    const value = values[entry];
    if (!("leaf" in place) || value === undefined) return {account: undefined, slots: absent};
    const {leaf} = place;
    const first = given[leaf] as number;
    given[leaf] = first + absent.length;
    const slots = storages[leaf]?.slice(first, first + absent.length);
    const {leafIndex} = part.leaves[leaf] as PartLeaf;
    return {
      account: {leafIndex, ...decodeAccount(suite, value)},
      slots: slots?.map(slot => slot && readWord(slot)) ?? absent,
    };
  });
  return {root, proven};
}

function verifyPart(
  suite: HashSuite,
  at: string,
  part: TreePart,
  hKeys: readonly Uint8Array[],
  minNextFreeNode: 2 | 3,
  hashValue: HashValue,
  readValue: (content: OwnContent, leaf: number, here: string) => Uint8Array,
): VerifiedPart {
  const {nextFreeNode, keys} = part;
  check(nextFreeNode >= minNextFreeNode, at, `nextFreeNode is below ${minNextFreeNode}`);
  /** Check 6. For each leaf the hKey of the present keys that name it. */
  const ownKeys = new Array<Uint8Array | undefined>(part.leaves.length).fill(undefined);
  keys.forEach((place, i) => {
    if (!("leaf" in place)) return;
    const hKey = hKeys[i] as Uint8Array;
    const other = ownKeys[place.leaf];
    check(other === undefined || isEqual(other, hKey), `${at}.keys[${i}]`, "names the leaf of another key");
    ownKeys[place.leaf] = hKey;
  });
  const values = new Array<Uint8Array | undefined>(part.leaves.length).fill(undefined);
  let last = -1;
  const leaves = part.leaves.map(({leafIndex, prev, next, content, siblings}, k): Leaf => {
    const here = `${at}.leaves[${k}]`;
    const open = (): Pick<LeafOpening, "hKey" | "hVal"> => {
      if (content.role === "end") return {hKey: leafIndex === 0 ? ZERO_WORD : suite.tailKey, hVal: ZERO_WORD};
      if (content.role === "neighbour") {
        const {hKey, hVal} = content;
        check(suite.isDigest(hKey), here, "hKey is not a digest of the suite");
        check(suite.isDigest(hVal), here, "hVal is not a digest of the suite");
        return {hKey, hVal};
      }
      const hKey = ownKeys[k];
      check(hKey !== undefined, here, "a value without a key");
      const value = readValue(content, k, here);
      values[k] = value;
      return {hKey, hVal: hashValue(suite, value, here)};
    };
    check(leafIndex > last, here, "leaf indexes do not ascend");
    last = leafIndex;
    check(leafIndex < nextFreeNode, here, "leaf index is not below nextFreeNode");
    check(prev < nextFreeNode, here, "prev is not below nextFreeNode");
    check(next < nextFreeNode, here, "next is not below nextFreeNode");
    const continues = (leafIndex === 0 && prev !== 0) || (leafIndex === 1 && next !== 1);
    check(!continues, here, "the list continues beyond head or tail");
    for (const sibling of siblings)
      check(suite.isDigest(sibling), here, "a sibling is not a digest of the suite");
    return {leafIndex, prev, next, ...open()};
  });
  const leafHashes = leaves.map(leaf => suite.hash(encodeLeafOpening(suite, leaf)));
  const subRoot = foldPart(suite, at, part, leafHashes);
  keys.forEach((place, i) => {
    if ("leaf" in place) return;
    const here = `${at}.keys[${i}]`;
    const [left, right] = [leaves[place.left] as Leaf, leaves[place.right] as Leaf];
    checkAbsence(hKeys[i] as Uint8Array, left, right, {left: here, right: here});
  });
  return {
    root: suite.hash(encodeRootNode(suite, nextFreeNode, subRoot)),
    values: keys.map(place => ("leaf" in place ? values[place.leaf] : undefined)),
  };
}

/**
 * Folds the leaves of a tree part to its sub-root, in one pass with a stack (docs/proofs.md, section 9.4).
 *
 * Leaf k is hashed up to the height at which its path meets that of leaf k + 1, and waits on the stack there until the
 * node from the right reaches that height. The last leaf is hashed up to the sub-root. Checks 14 to 16 are here.
 */
function foldPart(
  suite: HashSuite,
  at: string,
  {nextFreeNode, leaves}: TreePart,
  leafHashes: readonly Uint8Array[],
): Uint8Array {
  const zero = zeroSubTrees(suite);
  const waiting: {height: number; node: Uint8Array}[] = [];
  let current = new Uint8Array() as Uint8Array;
  leaves.forEach(({leafIndex, bitmap, siblings}, k) => {
    const here = `${at}.leaves[${k}]`;
    const following = leaves[k + 1];
    const end = following === undefined ? DEPTH : meetingHeight(leafIndex, following.leafIndex);
    current = leafHashes[k] as Uint8Array;
    let position = leafIndex;
    let bits = bitmap;
    let read = 0;
    for (let height = 0; height < end; height++) {
      const isRight = position % 2 === 1;
      const left = waiting.at(-1)?.height === height ? waiting.pop() : undefined;
      let other = left?.node ?? (zero[height] as Uint8Array);
      if (bits % 2 === 1) {
        const sibling = siblings[read++] as Uint8Array;
        check(left === undefined, here, () => `a sibling of height ${height} that other leaves give`);
        check(!isEqual(sibling, other), here, () => `an empty sibling of height ${height}`);
        check(
          isRight || (position + 1) * 2 ** height < nextFreeNode,
          here,
          () => `the sibling of height ${height} lies at or beyond nextFreeNode`,
        );
        other = sibling;
      }
      current = isRight ? suite.hashPair(other, current) : suite.hashPair(current, other);
      position = Math.floor(position / 2);
      bits = Math.floor(bits / 2);
    }
    check(bits === 0, here, "the bitmap has bits above the leaf's path");
    if (end < DEPTH) waiting.push({height: end, node: current});
  });
  return current;
}
