/**
 * Spoiled proofs of one account with slots, by rules about several keys: in the storage tree. reference/spoiledParts.ts breaks
 * these rules in the account tree.
 */
import {meetingHeight, type PartLeaf} from "../../../client/compact/treePart.ts";
import {insertSibling, type EditedLeaf as Leaf} from "../reference/editedProof.ts";
import {SIBLING, type SpoiledPart} from "../reference/spoiledParts.ts";

export const STORAGE_SPOILERS: readonly SpoiledPart[] = [
  {
    name: "names a leaf that is not there for a slot",
    request: "slots",
    complaint: /names leaf 7 of/,
    spoil: ({edit}) =>
      edit((_, storage) => {
        storage.keys[0] = {leaf: 7};
      }),
  },
  {
    name: "names one leaf for all slots",
    request: "slots",
    complaint: /names the leaf of another key/,
    spoil: ({edit}) =>
      edit((_, storage) => {
        const own = storage.leaves.filter(({content}) => content.role === "slot");
        storage.leaves.splice(0, storage.leaves.length, ...own.slice(0, 1));
        storage.keys.fill({leaf: 0});
      }),
  },
  {
    name: "has the leaves of two slots exchanged",
    request: "slots",
    complaint: /leaf indexes do not ascend/,
    spoil: ({edit}) =>
      edit((_, storage) => {
        const [first, second] = storage.leaves as [PartLeaf, PartLeaf];
        storage.leaves[0] = {...first, leafIndex: second.leafIndex};
        storage.leaves[1] = {...second, leafIndex: first.leafIndex};
      }),
  },
  {
    name: "has a slot's leaf twice",
    request: "slots",
    complaint: /leaf indexes do not ascend/,
    spoil: ({edit}) =>
      edit((_, storage) => {
        const [first, second] = storage.leaves as [PartLeaf, PartLeaf];
        storage.leaves[1] = {...second, leafIndex: first.leafIndex};
      }),
  },
  {
    name: "has a bit where another slot's leaf gives the sibling",
    request: "slots",
    complaint: /a sibling of height \d+ that other leaves give/,
    spoil: ({edit}) =>
      edit((_, storage) => {
        const [first, second] = storage.leaves as [Leaf, Leaf];
        const met = meetingHeight(first.leafIndex, second.leafIndex);
        insertSibling(second, met, SIBLING);
      }),
  },
];
