/** Account trees that no sequence of operations makes, and what they prove of PRESENT. They fold to their root. */
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import {
  encodeLeafOpening,
  encodeRootNode,
  type HashSuite,
  type LeafOpening,
  sha256Suite,
  word,
  ZERO_WORD,
  zeroSubTrees,
} from "../../../client/hash/hashSuites.ts";
import type {ProofResult} from "./referenceState.ts";
import type {LeafProof} from "./referenceTree.ts";

const DEPTH = 40;

interface ForgedLeaf extends LeafOpening {
  readonly value: Uint8Array;
}
type ForgedLeaves = Readonly<Record<number, ForgedLeaf>>;

export const PRESENT = "0x2400000000000000000000000000000000000000";
const VALUE = Buffer.concat([1, 2, 3, 4, 5, 6].map(word));
const HEAD: ForgedLeaf = {prev: 0, next: 2, hKey: ZERO_WORD, hVal: ZERO_WORD, value: ZERO_WORD};
const TAIL: ForgedLeaf = {...HEAD, prev: 2, next: 1, hKey: sha256Suite.tailKey};
const LEAF: ForgedLeaf = {...leafOf(VALUE), prev: 0, next: 1};
/** PRESENT at position 2 between head and tail. */
export const HELD: ForgedLeaves = {0: HEAD, 1: TAIL, 2: LEAF};
/** Head and tail alone. */
const BARE: ForgedLeaves = {0: {...HEAD, next: 1}, 1: {...TAIL, prev: 0}};
const FAR = {...LEAF, hKey: word(2n ** 256n - 2n)};

function leafOf(value: Uint8Array): Pick<ForgedLeaf, "hKey" | "hVal" | "value"> {
  const hKey = sha256Suite.hashAddress(decodeHex(PRESENT));
  return {hKey, hVal: sha256Suite.hashAccountValue(value), value};
}

interface TreeProof {
  readonly root: Uint8Array;
  /** Of chain_getProof, for PRESENT without slots. */
  readonly answer: ProofResult;
}

/** @param present - where PRESENT is; undefined: it is absent between the head and `right` */
export function proveTree(
  nextFreeNode: number,
  leaves: ForgedLeaves,
  present?: number,
  right = 1,
): TreeProof {
  const {root, proveLeaf} = forgeTree(sha256Suite, nextFreeNode, leaves);
  const [leftProof, rightProof] = [proveLeaf(0), proveLeaf(right)];
  const accountProof =
    present === undefined
      ? {key: PRESENT, leftLeafIndex: 0, leftProof, rightLeafIndex: right, rightProof}
      : {key: PRESENT, leafIndex: present, proof: proveLeaf(present)};
  return {root, answer: {accountProof, storageProofs: []}};
}

interface ForgedTree extends TreeProof {
  /** Completes "a tree with ...". */
  readonly name: string;
  /** The flaw is a field of the answer that the compact form does not have. Without it, the proof is true. */
  readonly isShownOnly: boolean;
}

/** Each tree breaks one rule. Without the flaw, its proof is accepted. */
export function* forgeTrees(): Generator<ForgedTree> {
  const forge = (name: string, ...tree: Parameters<typeof proveTree>): ForgedTree => {
    return {name, isShownOnly: / that shows /.test(name), ...proveTree(...tree)};
  };
  for (const n of [3, 4, 2 ** 32 + 2, 2 ** 40 - 1, 2 ** 40 + 1]) {
    for (const link of ["prev", "next"])
      yield forge(`${link} ${n} of 3 positions`, 3, {...HELD, 2: {...LEAF, [link]: n}}, 2);
    if (n < 2 ** 40) yield forge(`a leaf at ${n} of 3 positions`, 3, {0: HEAD, 1: TAIL, [n]: LEAF}, n);
  }
  yield forge("a sibling leaf at nextFreeNode", 3, {...HELD, 3: LEAF}, 2);
  yield forge("a link of a sibling leaf beyond 40 bits", 4, {...HELD, 3: {...LEAF, next: 2 ** 40 + 1}}, 2);
  yield forge("a nextFreeNode beyond 40 bits", 2 ** 40 + 1, HELD, 2);
  for (const value of [VALUE.subarray(32), Buffer.concat([VALUE, word(7)])])
    yield forge(`an account value of ${value.length} bytes`, 3, {...HELD, 2: {...LEAF, ...leafOf(value)}}, 2);
  yield forge("a list that skips a leaf forwards only", 3, {...HELD, 0: {...HEAD, next: 1}});
  for (const [at, name] of ["a head", "a tail"].entries()) {
    const edit = (change: Partial<ForgedLeaf>): ForgedLeaves => {
      return {...BARE, [at]: {...(BARE[at] as ForgedLeaf), ...change}};
    };
    yield forge(`${name} that is an account`, 2, edit(LEAF), at);
    yield forge(`${name} with a value`, 2, edit({hVal: word(1)}));
    yield forge(`${name} with a key of its own`, 2, edit({hKey: word(1)}));
    yield forge(`${name} after the tail`, 2, edit({prev: 1}));
    yield forge(`${name} before the head`, 2, edit({next: 0}));
    yield forge(`${name} that shows another value than zero`, 2, edit({value: word(1)}));
    yield forge(`${name} that shows a value of another length`, 2, edit({value: new Uint8Array(192)}));
  }
}

/**
 * PRESENT exists at position 2. Its path has the sub-tree of a leaf at 2^height as a sibling: a small tree of an occupied height
 * that only trees of 2^height accounts have.
 *
 * @param height - 2 to 39
 */
export function proveBeside(height: number, nextFreeNode: number): TreeProof {
  return proveTree(nextFreeNode, {...HELD, [2 ** height]: FAR}, 2);
}

/** PRESENT is absent between the head and a leaf at 2^height, whose paths meet at `height`. @param height - 1 to 39 */
export function proveAcross(height: number): TreeProof {
  const right = 2 ** height;
  const leaves = {0: {...HEAD, next: right}, 1: {...TAIL, prev: right}, [right]: FAR};
  return proveTree(right + 1, leaves, undefined, right);
}

/** @returns the root of a tree of any leaves at any positions, hashed as they are, and the proof of each leaf */
function forgeTree(
  suite: HashSuite,
  nextFreeNode: number,
  leaves: ForgedLeaves,
): {root: Uint8Array; proveLeaf(leafIndex: number): LeafProof} {
  const zero = zeroSubTrees(suite);
  const indexes = Object.keys(leaves).map(Number);
  const openLeaf = (i: number) => {
    const leaf = leaves[i];
    return leaf === undefined ? undefined : encodeLeafOpening(suite, leaf);
  };
  /** What the node at this place is the hash of. */
  const preImage = (height: number, i: number): Uint8Array => {
    if (height === 0) return openLeaf(i) ?? (zero[0] as Uint8Array);
    return Buffer.concat([node(height - 1, 2 * i), node(height - 1, 2 * i + 1)]);
  };
  const node = (height: number, i: number): Uint8Array => {
    const isEmpty = !indexes.some(index => Math.floor(index / 2 ** height) === i);
    return isEmpty ? (zero[height] as Uint8Array) : suite.hash(preImage(height, i));
  };
  const rootNode = encodeRootNode(suite, nextFreeNode, node(DEPTH, 0));
  return {
    root: suite.hash(rootNode),
    proveLeaf: leafIndex => {
      const nodes = [rootNode];
      for (let height = DEPTH - 1; height >= 0; height--) {
        const own = Math.floor(leafIndex / 2 ** height);
        nodes.push(preImage(height, own % 2 === 0 ? own + 1 : own - 1));
      }
      nodes.push(preImage(0, leafIndex));
      return {
        value: encodeHex(leaves[leafIndex]?.value ?? new Uint8Array()),
        proofRelatedNodes: nodes.map(encodeHex),
      };
    },
  };
}
