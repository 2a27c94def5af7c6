/**
 * The proof of a single leaf (docs/proofs.md, section 6): 42 nodes and a value, from a trusted root down.
 *
 *   proofRelatedNodes   [0]        root node: nextFreeNode, sub-root                 H = trusted root
 *                       [1]..[39]  pre-image of the sibling at heights 39..1         H = sibling
 *                       [40]       opening of the sibling leaf, or 32 zero bytes     H = sibling, or zero
 *                       [41]       opening of the leaf itself                        H = leaf
 */
import {concatBytes, isEqual, isZero} from "../bytes/byteString.ts";
import {encodeHex} from "../bytes/hex.ts";
import {shown} from "../bytes/values.ts";
import {
  type HashSuite,
  type Leaf,
  type LeafOpening,
  oncePerSuite,
  ZERO_WORD,
  zeroSubTrees,
} from "../hash/hashSuites.ts";
import {ProofError} from "./proofError.ts";
import {check, checkSize, plainBytes, readArray, readBytes, readFields} from "./strictJson.ts";

/** The deepest tree: leaf indexes have 40 bits. */
export const DEPTH = 40;
export const LEAF_POSITIONS = 2 ** DEPTH;

/** A leaf whose opening folds to the trusted root and whose hVal belongs to `value`. */
export interface ProvenLeaf extends Leaf {
  readonly value: Uint8Array;
}

/** hVal of a value of the account tree, or of storage trees. @throws ProofError for an invalid value */
export type HashValue = (suite: HashSuite, value: Uint8Array, at: string) => Uint8Array;

/** hVal of a slot's value, 32 bytes. @throws ProofError */
export const hashSlotBytes: HashValue = (suite, value, at) => {
  checkSize(at, value, 32);
  check(!isZero(value), at, "a slot is stored as zero");
  return suite.hash(suite.safe(value));
};

/** The parsed proof of a single leaf, not yet verified. */
export interface LeafProof extends ProvenLeaf {
  /** Its place in the answer. */
  readonly at: string;
  readonly rootNode: Uint8Array;
  readonly nextFreeNode: number;
  readonly node: Uint8Array;
  /** Of the siblings, by height from 0 to 39; that of height 0 is 32 zero bytes where that leaf is empty. */
  readonly preImages: readonly Uint8Array[];
}

/** Step 1 of docs/proofs.md, section 6: sizes. @throws ProofError */
export function readLeafProof(suite: HashSuite, at: string, leafIndex: unknown, proof: unknown): LeafProof {
  const isIndex = Number.isInteger(leafIndex) && !Object.is(leafIndex, -0);
  const index = isIndex ? (leafIndex as number) : -1;
  check(
    index >= 0 && index < LEAF_POSITIONS,
    at,
    () => `expected a leaf index of 0 to 2^40 - 1, got ${shown(leafIndex)}`,
  );
  const [valueText, nodeTexts] = readFields(at, proof, ["value", "proofRelatedNodes"]);
  const value = readBytes(`${at}.value`, valueText);
  const nodes = readNodes(suite, at, nodeTexts);
  const rootNode = nodes[0] as Uint8Array;
  const leaf = nodes[DEPTH + 1] as Uint8Array;
  return {
    at,
    leafIndex: index,
    value,
    rootNode,
    nextFreeNode: readSafeNumber(suite, `${at}.proofRelatedNodes[0]`, rootNode),
    ...readLeafOpening(suite, `${at}.proofRelatedNodes[41]`, leaf),
    node: suite.hash(leaf),
    preImages: nodes.slice(1, DEPTH + 1).reverse(),
  };
}

/** Checks everything that the proof of a single leaf must satisfy, for any key. @throws ProofError */
export function verifyLeaf(
  suite: HashSuite,
  hashValue: HashValue,
  root: Uint8Array,
  leaf: LeafProof,
): ProvenLeaf {
  const {at, leafIndex, value, rootNode, nextFreeNode, prev, next, hKey, hVal} = leaf;
  const isTrusted = isEqual(suite.hash(rootNode), plainBytes("root", root));
  check(isTrusted, `${at}.proofRelatedNodes[0]`, "does not hash to the trusted root");
  const subRoot = rootNode.subarray(suite.safeWordBytes);
  check(isEqual(foldLeaf(suite, leaf), subRoot), at, "the path does not fold to the sub-root");

  // The root commits to nextFreeNode. Section 2 fills positions in order and never lowers nextFreeNode. So no leaf lies
  // at or beyond it, and no link points there. A root that says otherwise is not the root of such a tree.
  check(leafIndex < nextFreeNode, at, "leaf index is not below nextFreeNode");
  const siblingIndex = leafIndex % 2 === 0 ? leafIndex + 1 : leafIndex - 1;
  check(
    siblingIndex < nextFreeNode || isEmptyLeaf(leaf.preImages[0] as Uint8Array),
    at,
    "a sibling leaf lies at or beyond nextFreeNode",
  );
  check(prev < nextFreeNode, at, "prev is not below nextFreeNode");
  check(next < nextFreeNode, at, "next is not below nextFreeNode");

  if (leafIndex < 2) {
    const isHead = leafIndex === 0;
    check(isZero(hVal), at, "hVal of head or tail is not zero");
    check(isEmptyLeaf(value), `${at}.value`, "of head or tail is not 32 zero bytes");
    check(isEqual(hKey, isHead ? ZERO_WORD : suite.tailKey), at, "hKey of head or tail is wrong");
    // Section 2: the ends of the list point at themselves.
    check(isHead ? prev === 0 : next === 1, at, "the list continues beyond head or tail");
  } else check(isEqual(hashValue(suite, value, `${at}.value`), hVal), `${at}.value`, "does not hash to hVal");
  return leaf;
}

/** The 42 nodes, checked for the sizes of section 5. */
function readNodes(suite: HashSuite, at: string, texts: unknown): Uint8Array[] {
  const empty = emptySiblings(suite);
  return readArray(`${at}.proofRelatedNodes`, texts, DEPTH + 2, (text, i) => {
    const known = empty[DEPTH - i];
    if (known !== undefined && known.text === text) return known.preImage;
    const here = () => `${at}.proofRelatedNodes[${i}]`;
    const size = i === 0 ? suite.rootNodeBytes : i < DEPTH ? 64 : suite.leafOpeningBytes;
    const node = readBytes(here, text, size);
    // A node is safe words first (one in the root node, two in a leaf opening), then digests up to its end.
    const firstDigest = i === 0 ? suite.safeWordBytes : i < DEPTH ? 0 : 2 * suite.safeWordBytes;
    check(suite.areDigests(node, firstDigest), here, "has a value that is not a digest of the suite");
    if (i === DEPTH) readLeafOpening(suite, here(), node);
    return node;
  });
}

/** The empty siblings by height, 0 to 39: half of all in a tree of a million leaves. */
const emptySiblings = oncePerSuite(suite => {
  const zero = zeroSubTrees(suite);
  return Array.from({length: DEPTH}, (_, height) => {
    const below = zero[height - 1];
    const preImage = below === undefined ? ZERO_WORD : concatBytes(below, below);
    return {text: encodeHex(preImage), preImage, digest: zero[height] as Uint8Array};
  });
});

/** @param preImages - as {@link readLeafProof} gives them. @returns the siblings by height, 0 to 39 */
export function hashSiblings(suite: HashSuite, preImages: readonly Uint8Array[]): Uint8Array[] {
  const empty = emptySiblings(suite);
  return preImages.map((preImage, height) => {
    const known = empty[height];
    if (preImage === known?.preImage) return known.digest;
    return height === 0 ? suite.hash(preImage) : suite.hashBranch(preImage);
  });
}

function foldLeaf(suite: HashSuite, {leafIndex, node, preImages}: LeafProof): Uint8Array {
  let current = node;
  let position = leafIndex;
  for (const sibling of hashSiblings(suite, preImages)) {
    current = position % 2 === 1 ? suite.hashPair(sibling, current) : suite.hashPair(current, sibling);
    position = Math.floor(position / 2);
  }
  return current;
}

function readLeafOpening(suite: HashSuite, at: string, node: Uint8Array): LeafOpening {
  const links = suite.safeWordBytes;
  return {
    prev: readSafeNumber(suite, at, node),
    next: readSafeNumber(suite, at, node.subarray(links)),
    hKey: node.subarray(2 * links, 2 * links + 32),
    hVal: node.subarray(2 * links + 32),
  };
}

/** Reads the position or count in the safe word at the start of `bytes`: at most 2^40. */
function readSafeNumber(suite: HashSuite, at: string, bytes: Uint8Array): number {
  let plain: Uint8Array;
  try {
    plain = suite.unsafe(bytes.subarray(0, suite.safeWordBytes));
  } catch (error) {
    throw new ProofError(at, (error as Error).message);
  }
  let n = 0;
  for (const byte of plain) {
    n = 256 * n + byte;
    check(n <= LEAF_POSITIONS, at, "a position is beyond 40 bits");
  }
  return n;
}

/** An empty leaf is 32 zero bytes. An opening that is all zeros is a leaf, and is hashed. */
function isEmptyLeaf(node: Uint8Array): boolean {
  return node.length === 32 && isZero(node);
}
