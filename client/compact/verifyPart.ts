/** Verifies a tree part that was read for the keys that were asked for: checks 4, 6, 8 to 10, 13 to 16 and 18 of docs/proofs.md, section 10. */
import {isEqual} from "../bytes/byteString.ts";
import {
  encodeLeafOpening,
  encodeRootNode,
  type HashSuite,
  type LeafOpening,
  ZERO_WORD,
} from "../hash/hashSuites.ts";
import {checkAbsence} from "../proof/keyProof.ts";
import {check} from "../proof/strictJson.ts";
import {foldPart, type SeeNode} from "./foldPart.ts";
import type {PartLeaf, TreePart} from "./treePart.ts";

export interface PartChecks {
  readonly suite: HashSuite;
  /** The part's place in the proof. */
  readonly at: string;
  /** Of the keys asked for, in the part's order. */
  readonly hKeys: readonly Uint8Array[];
  /** Least nextFreeNode: 3 where a new tree has another form. */
  readonly minNextFreeNode: 2 | 3;
  /** @returns hVal of an own leaf, whose content has been read by its role */
  hashContent(leaf: number, at: string): Uint8Array;
  readonly seeNode?: SeeNode | undefined;
}

export interface VerifiedPart {
  /** The root to which the part folds. The caller compares it. */
  readonly root: Uint8Array;
  readonly openings: readonly LeafOpening[];
}

/** @throws ProofError */
export function verifyPart(part: TreePart, checks: PartChecks): VerifiedPart {
  const {suite, at, hKeys, minNextFreeNode} = checks;
  const {nextFreeNode, keys, leaves} = part;
  check(nextFreeNode >= minNextFreeNode, at, `nextFreeNode is below ${minNextFreeNode}`);
  const ownKeys = assignOwnKeys(at, part, hKeys);
  let last = -1;
  const openings = leaves.map((leaf, k): LeafOpening => {
    const here = `${at}.leaves[${k}]`;
    check(leaf.leafIndex > last, here, "leaf indexes do not ascend");
    last = leaf.leafIndex;
    checkLinks(here, leaf, nextFreeNode);
    for (const sibling of leaf.siblings)
      check(suite.isDigest(sibling), here, "a sibling is no digest of the suite");
    return {prev: leaf.prev, next: leaf.next, ...openContent(checks, here, leaf, k, ownKeys[k])};
  });
  const leafHashes = openings.map(opening => suite.hash(encodeLeafOpening(suite, opening)));
  const subRoot = foldPart(suite, at, part, leafHashes, checks.seeNode);
  keys.forEach((place, i) => {
    if ("leaf" in place) return;
    const [left, right] = [place.left, place.right].map(k => {
      const {leafIndex} = leaves[k] as PartLeaf;
      return {leafIndex, ...(openings[k] as LeafOpening)};
    }) as [LeafOpening & {leafIndex: number}, LeafOpening & {leafIndex: number}];
    const here = `${at}.keys[${i}]`;
    checkAbsence(hKeys[i] as Uint8Array, left, right, {left: here, right: here});
  });
  return {root: suite.hash(encodeRootNode(suite, nextFreeNode, subRoot)), openings};
}

/** Check 6. @returns for each leaf the hKey of the present keys that name it */
function assignOwnKeys(
  at: string,
  {keys, leaves}: TreePart,
  hKeys: readonly Uint8Array[],
): readonly (Uint8Array | undefined)[] {
  const own = new Array<Uint8Array | undefined>(leaves.length).fill(undefined);
  keys.forEach((place, i) => {
    if (!("leaf" in place)) return;
    const hKey = hKeys[i] as Uint8Array;
    const other = own[place.leaf];
    check(other === undefined || isEqual(other, hKey), `${at}.keys[${i}]`, "names the leaf of another key");
    own[place.leaf] = hKey;
  });
  return own;
}

/** Checks 9 and 10. */
function checkLinks(at: string, {leafIndex, prev, next}: PartLeaf, nextFreeNode: number): void {
  check(leafIndex < nextFreeNode, at, "leaf index is not below nextFreeNode");
  check(prev < nextFreeNode, at, "prev is not below nextFreeNode");
  check(next < nextFreeNode, at, "next is not below nextFreeNode");
  const continues = (leafIndex === 0 && prev !== 0) || (leafIndex === 1 && next !== 1);
  check(!continues, at, "the list continues beyond head or tail");
}

function openContent(
  {suite, hashContent}: PartChecks,
  at: string,
  {leafIndex, content}: PartLeaf,
  leaf: number,
  ownKey: Uint8Array | undefined,
): Pick<LeafOpening, "hKey" | "hVal"> {
  if (content.role === "end") return {hKey: leafIndex === 0 ? ZERO_WORD : suite.tailKey, hVal: ZERO_WORD};
  if (content.role === "neighbour") {
    const {hKey, hVal} = content;
    check(suite.isDigest(hKey), at, "hKey is no digest of the suite");
    check(suite.isDigest(hVal), at, "hVal is no digest of the suite");
    return {hKey, hVal};
  }
  check(ownKey !== undefined, at, "a value for no key");
  return {hKey: ownKey, hVal: hashContent(leaf, at)};
}
