/** Vectors for anyone who writes a verifier of chain_getLeaves (docs/proofs.md, section 15): good and forged answers. */
import {encodeHex} from "../../../client/bytes/hex.ts";
import {type HashSuite, zeroSubTrees} from "../../../client/hash/hashSuites.ts";
import {type LeavesRequest, verifyLeaves} from "../../../client/leaves/leafRange.ts";
import {CONTRACT, LINES, OTHER} from "./compactCases.ts";
import {RangeCases} from "./forgedRanges.ts";
import {complaintOf, firstOfEach, pickFrom} from "./forgeries.ts";
import {memoiseSuite} from "./memoisedSuite.ts";
import {keysOf} from "./rangeBytes.ts";
import type {ReferenceLeaf} from "./referenceTree.ts";
import {ruleOf} from "./verifierVectors.ts";

export interface ExpectedLeaf {
  readonly leafIndex: number;
  readonly prev: number;
  readonly next: number;
  readonly hKey: string;
  readonly hVal: string;
  /** The address, or the slot without leading zeros. null: the leaf is head or tail. */
  readonly key: string | null;
  /** 192 bytes of an account, 32 of a slot, of head and of tail. */
  readonly value: string;
}

interface RangeVector {
  readonly what: string;
  /** The state root that the verifier trusts. */
  readonly root: string;
  readonly request: LeavesRequest;
  readonly proof: string;
  /** The tree's nextFreeNode (2: no storage) and the leaves by position; null: deleted. */
  readonly expect:
    | "refused"
    | {readonly nextFreeNode: number; readonly leaves: readonly (ExpectedLeaf | null)[]};
}

export interface RangeVectors {
  readonly suite: HashSuite["name"];
  readonly vectors: readonly RangeVector[];
}

const REQUESTS: readonly (readonly [what: string, request: LeavesRequest])[] = [
  ["the account tree", {tree: "accounts", from: 0, count: 4096}],
  ["accounts in the middle", {tree: "accounts", from: 3, count: 4}],
  ["the last account", {tree: "accounts", from: 9, count: 1}],
  ["a storage tree", {tree: CONTRACT, from: 0, count: 4096}],
  ["slots in the middle", {tree: CONTRACT, from: 4, count: 3}],
  ["an account without storage", {tree: OTHER, from: 0, count: 4096}],
  ["an account that is absent", {tree: `0x${"99".repeat(20)}`, from: 0, count: 4096}],
];
/** Forgeries of a class that are looked at. The first of each class and the first of each rule are kept. */
const TRIES = 12;

export function makeRangeVectors(plain: HashSuite): RangeVectors {
  const suite = memoiseSuite(plain);
  const cases = new RangeCases(suite, keysOf(suite, LINES));
  const vectors = [
    ...REQUESTS.map(([what, request]) => makeGood(cases, what, request)),
    ...makeForged(cases),
  ];
  return {suite: suite.name, vectors};
}

function makeGood(cases: RangeCases, what: string, request: LeavesRequest): RangeVector {
  const {root, bytes} = cases.prove(request);
  const tree = cases.treeOf(request.tree);
  const nextFreeNode = tree?.nextFreeNode ?? 2;
  const leaves = nextFreeNode === 2 ? [] : tree.positions.slice(request.from, request.from + request.count);
  const expect = {
    nextFreeNode,
    leaves: leaves.map((leaf, i) =>
      expectLeaf(leaf, request.from + i, hKey => cases.keyOf(hKey, request.tree === "accounts")),
    ),
  };
  return {what, root: encodeHex(root), request, proof: encodeHex(bytes), expect};
}

export function expectLeaf(
  leaf: ReferenceLeaf | null,
  leafIndex: number,
  keyOf: (hKey: Uint8Array) => Uint8Array,
): ExpectedLeaf | null {
  if (leaf === null) return null;
  const {prev, next} = leaf;
  const [hKey, hVal, value] = [leaf.hKey, leaf.hVal, leaf.value].map(encodeHex) as [string, string, string];
  return {leafIndex, prev, next, hKey, hVal, key: leafIndex < 2 ? null : encodeHex(keyOf(leaf.hKey)), value};
}

function makeForged(cases: RangeCases): RangeVector[] {
  const {suite} = cases;
  const requests = REQUESTS.slice(0, 5).map(([, request]) => request);
  // The same numbers at each making.
  const pick = pickFrom((zeroSubTrees(suite)[1] as Uint8Array)[0] as number);
  return firstOfEach(cases.namesOf(requests), TRIES, name => {
    const request = requests[pick(requests.length)] as LeavesRequest;
    const forged = cases.forge(name, request, pick);
    if (forged === undefined) return undefined;
    const {root, bytes} = forged;
    const rule = ruleOf(complaintOf(() => verifyLeaves(suite, root, request, bytes)));
    const what = `${name}: ${rule}`;
    return {rule, what, root: encodeHex(root), request, proof: encodeHex(bytes), expect: "refused"};
  });
}
