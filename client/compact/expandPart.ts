/** The siblings of every leaf of a part, from the nodes that its walk sees. */
import {type HashSuite, type LeafOpening, word, zeroSubTrees} from "../hash/hashSuites.ts";
import {encodeAccount} from "../proof/account.ts";
import type {AskedAccounts} from "./askedKeys.ts";
import type {SeeNode} from "./foldPart.ts";
import type {OpenedEntry, OpenedKey, OpenedLeaf} from "./openedPaths.ts";
import {DEPTH, type TreePart} from "./treePart.ts";
import {verifyAccountsPart} from "./verifyAccounts.ts";

type Nodes = Map<string, Uint8Array>;

/**
 * @returns per entry its leaves with all siblings
 * @throws ProofError by any check of docs/proofs.md, section 10, but that of the root
 */
export function expandPart(suite: HashSuite, part: TreePart, asked: AskedAccounts): readonly OpenedEntry[] {
  const nodesOf = new Map<TreePart, Nodes>();
  const seePart = (seen: TreePart): SeeNode => {
    const nodes: Nodes = new Map();
    nodesOf.set(seen, nodes);
    return (height, position, node) => nodes.set(`${height}:${position}`, node);
  };
  const {openings, accounts, storages} = verifyAccountsPart(suite, "accountTree", part, asked, seePart);
  const open = (tree: TreePart, leaves: readonly LeafOpening[], readValue: (leaf: number) => Uint8Array) =>
    openKeys(suite, tree, leaves, nodesOf.get(tree) as Nodes, readValue);

  const keys = open(part, openings, leaf => {
    const account = accounts[leaf];
    return account === undefined ? new Uint8Array() : encodeAccount(account);
  });
  const slotsOfLeaf = part.leaves.map(({content}, leaf) => {
    if (content.role !== "account" || content.storage === undefined) return [];
    const {leaves} = content.storage;
    return open(content.storage, storages[leaf]?.openings ?? [], slot => {
      const shown = leaves[slot]?.content;
      return shown?.role === "slot" ? word(shown.value) : new Uint8Array();
    });
  });
  return keys.map((account, entry) => {
    const place = part.keys[entry];
    const slots = place !== undefined && "leaf" in place ? (slotsOfLeaf[place.leaf] as OpenedKey[]) : [];
    // Entries of the same account take their slots one after the other.
    return {account, slots: slots.splice(0, asked.slots[entry]?.length ?? 0)};
  });
}

function openKeys(
  suite: HashSuite,
  {nextFreeNode, keys, leaves}: TreePart,
  openings: readonly LeafOpening[],
  nodes: Nodes,
  readValue: (leaf: number) => Uint8Array,
): OpenedKey[] {
  const zero = zeroSubTrees(suite);
  const opened = leaves.map(({leafIndex}, k): OpenedLeaf => {
    const siblings = Array.from({length: DEPTH}, (_, height) => {
      const position = Math.floor(leafIndex / 2 ** height);
      const sibling = position % 2 === 1 ? position - 1 : position + 1;
      return nodes.get(`${height}:${sibling}`) ?? (zero[height] as Uint8Array);
    });
    return {leafIndex, ...(openings[k] as LeafOpening), siblings};
  });
  return keys.map(place => {
    const at = (leaf: number) => opened[leaf] as OpenedLeaf;
    if ("leaf" in place) return {nextFreeNode, leaf: at(place.leaf), value: readValue(place.leaf)};
    return {nextFreeNode, left: at(place.left), right: at(place.right)};
  });
}
