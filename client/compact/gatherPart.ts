/** Makes a tree part of leaves with all their siblings: each leaf and each sibling once, without empty siblings. */
import {isEqual} from "../bytes/byteString.ts";
import {encodeLeafOpening, type HashSuite, zeroSubTrees} from "../hash/hashSuites.ts";
import {DEPTH} from "../proof/leafProof.ts";
import {check} from "../proof/strictJson.ts";
import type {OpenedKey, OpenedLeaf} from "./openedPaths.ts";
import {type LeafContent, meetingHeight, type PartLeaf, type TreePart} from "./treePart.ts";

/** @param storageOf - of the account that these keys name. @throws ProofError for no keys, or keys of several trees */
export function gatherPart(
  suite: HashSuite,
  at: string,
  keys: readonly OpenedKey[],
  storageOf: (named: readonly number[]) => TreePart | undefined = () => undefined,
): TreePart {
  const [first] = keys;
  check(first !== undefined, at, "no keys");
  const {nextFreeNode} = first;
  const leaves = new Map<number, OpenedLeaf>();
  const values = new Map<number, {value: Uint8Array; named: number[]}>();
  keys.forEach((key, i) => {
    check(key.nextFreeNode === nextFreeNode, at, "the answers are of several trees");
    for (const leaf of "leaf" in key ? [key.leaf] : [key.left, key.right]) {
      const known = leaves.get(leaf.leafIndex) ?? leaf;
      const isSame = isEqual(encodeLeafOpening(suite, known), encodeLeafOpening(suite, leaf));
      check(isSame, at, `the answers have two leaves at ${leaf.leafIndex}`);
      leaves.set(leaf.leafIndex, leaf);
    }
    if (!("leaf" in key)) return;
    const own = values.get(key.leaf.leafIndex) ?? {value: key.value, named: []};
    own.named.push(i);
    values.set(key.leaf.leafIndex, own);
  });
  const sorted = [...leaves.values()].sort((a, b) => a.leafIndex - b.leafIndex);
  const numbers = new Map(sorted.map(({leafIndex}, k) => [leafIndex, k]));
  const numberOf = ({leafIndex}: OpenedLeaf) => numbers.get(leafIndex) as number;
  return {
    nextFreeNode,
    keys: keys.map(key =>
      "leaf" in key ? {leaf: numberOf(key.leaf)} : {left: numberOf(key.left), right: numberOf(key.right)},
    ),
    leaves: chooseSiblings(suite, sorted, leaf => {
      const own = values.get(leaf.leafIndex);
      if (own !== undefined) return {role: "own", value: own.value, storage: storageOf(own.named)};
      return leaf.leafIndex < 2 ? {role: "end"} : {role: "neighbour", hKey: leaf.hKey, hVal: leaf.hVal};
    }),
  };
}

/** Walks as docs/proofs.md, section 9.4, and keeps the siblings that the walk asks for. */
function chooseSiblings(
  suite: HashSuite,
  leaves: readonly OpenedLeaf[],
  contentOf: (leaf: OpenedLeaf) => LeafContent,
): PartLeaf[] {
  const zero = zeroSubTrees(suite);
  const waiting: number[] = [];
  return leaves.map((leaf, k) => {
    const following = leaves[k + 1];
    const end = following === undefined ? DEPTH : meetingHeight(leaf.leafIndex, following.leafIndex);
    const siblings: Uint8Array[] = [];
    let bitmap = 0;
    for (let height = 0; height < end; height++) {
      const sibling = leaf.siblings[height] as Uint8Array;
      if (waiting.at(-1) === height) waiting.pop();
      else if (!isEqual(sibling, zero[height] as Uint8Array)) {
        siblings.push(sibling);
        bitmap += 2 ** height;
      }
    }
    if (end < DEPTH) waiting.push(end);
    const {leafIndex, prev, next} = leaf;
    return {leafIndex, prev, next, content: contentOf(leaf), bitmap, siblings};
  });
}
