/**
 * Everything needed to read a tree as of one block, in 49 bytes. It is part of the block record (account tree) or of
 * the account's leaf (slots).
 *
 *   nextFreeNode u40 | root page u48 | index page u48 | subRoot 32
 */

import {WORD_BYTES} from "../hash/suite.ts";
import type {EmptyTree} from "./emptyTree.ts";
import {FIRST_FREE_NODE} from "./emptyTree.ts";

export interface TreeRoot {
  /** Positions in use, including head and tail. Every leaf index is below this number. */
  readonly nextFreeNode: number;
  /** Page number of the root, at level rootLevel(nextFreeNode); 0 = a new tree, nothing is stored. */
  readonly rootPage: number;
  /** Page number of the hKey index's root; 0 = no index: the tree is one leaf page, or new. */
  readonly indexPage: number;
  readonly subRoot: Uint8Array;
}

export const TREE_ROOT_BYTES = 5 + 6 + 6 + WORD_BYTES;

/** In the records of a store without sparse trees. */
export const NO_TREE: TreeRoot = {
  nextFreeNode: 0,
  rootPage: 0,
  indexPage: 0,
  subRoot: new Uint8Array(WORD_BYTES),
};

export function newTreeRoot(empty: EmptyTree): TreeRoot {
  return {nextFreeNode: FIRST_FREE_NODE, rootPage: 0, indexPage: 0, subRoot: empty.subRoot};
}

export function encodeTreeRootInto(out: Buffer, offset: number, root: TreeRoot): void {
  out.writeUIntBE(root.nextFreeNode, offset, 5);
  out.writeUIntBE(root.rootPage, offset + 5, 6);
  out.writeUIntBE(root.indexPage, offset + 11, 6);
  out.set(root.subRoot, offset + 17);
}

export function readNextFreeNode(bytes: Buffer, offset: number): number {
  return bytes.readUIntBE(offset, 5);
}

export function decodeTreeRoot(bytes: Buffer, offset: number): TreeRoot {
  return {
    nextFreeNode: readNextFreeNode(bytes, offset),
    rootPage: bytes.readUIntBE(offset + 5, 6),
    indexPage: bytes.readUIntBE(offset + 11, 6),
    subRoot: bytes.subarray(offset + 17, offset + 17 + WORD_BYTES),
  };
}

/** A copy, to be kept longer than the record it was read from. */
export function ownTreeRoot(root: TreeRoot): TreeRoot {
  return {...root, subRoot: new Uint8Array(root.subRoot)};
}
