/** The siblings of every leaf of a part. */
import {encodeLeafOpening, type HashSuite, type Leaf, zeroSubTrees} from "../hash/hashSuites.ts";
import {DEPTH} from "../proof/leafProof.ts";
import type {AskedAccounts} from "./askedKeys.ts";
import type {OpenedEntry, OpenedKey, OpenedLeaf} from "./openedPaths.ts";
import type {TreePart} from "./treePart.ts";
import {type VerifiedPart, verifyAccountsPart} from "./verifyPart.ts";

/** @throws ProofError by any check of docs/proofs.md, section 10, but that of the root */
export function expandPart(suite: HashSuite, part: TreePart, asked: AskedAccounts): readonly OpenedEntry[] {
  const verified = verifyAccountsPart(suite, "accountTree", part, asked);
  const slotsOfLeaf = part.leaves.map(({content}, leaf) => {
    const [storage, slots] = [content.role === "own" ? content.storage : undefined, verified.storages[leaf]];
    return storage === undefined || slots === undefined ? [] : openKeys(suite, storage, slots);
  });
  return openKeys(suite, part, verified).map((account, entry) => {
    const place = part.keys[entry];
    const slots = place !== undefined && "leaf" in place ? (slotsOfLeaf[place.leaf] as OpenedKey[]) : [];
    // Entries of the same account take their slots one after the other.
    return {account, slots: slots.splice(0, asked.slots[entry]?.length ?? 0)};
  });
}

function openKeys(suite: HashSuite, part: TreePart, {leaves, values}: VerifiedPart): OpenedKey[] {
  const {nextFreeNode, keys} = part;
  const nodes = hashNodes(suite, part, leaves);
  const zero = zeroSubTrees(suite);
  const opened = leaves.map((leaf): OpenedLeaf => {
    const siblings = nodes.map(
      (level, height) => level.get(siblingAt(leaf.leafIndex, height)) ?? (zero[height] as Uint8Array),
    );
    return {...leaf, siblings};
  });
  return keys.map((place, i) => {
    const at = (leaf: number) => opened[leaf] as OpenedLeaf;
    if ("leaf" in place) return {nextFreeNode, leaf: at(place.leaf), value: values[i] as Uint8Array};
    return {nextFreeNode, left: at(place.left), right: at(place.right)};
  });
}

/** @returns for each height from 0 to 39 the nodes that are sent or computed, by position */
function hashNodes(suite: HashSuite, part: TreePart, leaves: readonly Leaf[]): Map<number, Uint8Array>[] {
  const zero = zeroSubTrees(suite);
  const levels = Array.from({length: DEPTH + 1}, () => new Map<number, Uint8Array>());
  part.leaves.forEach(({leafIndex, bitmap, siblings}, k) => {
    levels[0]?.set(leafIndex, suite.hash(encodeLeafOpening(suite, leaves[k] as Leaf)));
    let read = 0;
    for (let height = 0; height < DEPTH; height++)
      if (Math.floor(bitmap / 2 ** height) % 2 === 1)
        levels[height]?.set(siblingAt(leafIndex, height), siblings[read++] as Uint8Array);
  });
  for (const [height, level] of levels.slice(0, DEPTH).entries())
    for (const position of level.keys()) {
      const parent = Math.floor(position / 2);
      const [left, right] = [2 * parent, 2 * parent + 1].map(at => level.get(at) ?? zero[height]);
      levels[height + 1]?.set(parent, suite.hashPair(left as Uint8Array, right as Uint8Array));
    }
  return levels.slice(0, DEPTH);
}

function siblingAt(leafIndex: number, height: number): number {
  const position = Math.floor(leafIndex / 2 ** height);
  return position % 2 === 1 ? position - 1 : position + 1;
}
