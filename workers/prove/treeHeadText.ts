/**
 * What the nodes of every proof in one version of a tree begin with:
 *
 *   "0x<root node>","0x<empty sibling at height 39>", ...      down to the occupied part
 *
 * Kept for the version asked for last: the calls of a batch mostly name one block.
 */

import {type HashSuite, TREE_HEIGHT} from "../../storage/hash/suite.ts";
import type {EmptyTree} from "../../storage/tree/emptyTree.ts";
import {PRE_IMAGE_BYTES} from "../../storage/tree/leafPath.ts";
import type {TreeRoot} from "../../storage/tree/treeRoot.ts";
import {writeHexInto} from "./hexDigits.ts";
import {QUOTE_BYTES} from "./nodeText.ts";

/** `,"0x..."` of one pre-image. */
export const PRE_IMAGE_TEXT_BYTES = 2 * PRE_IMAGE_BYTES + QUOTE_BYTES;
const QUOTE = 0x22;
const OPEN = Buffer.from('"0x', "latin1");

export class TreeHeadText {
  private readonly rootNode: Uint8Array;
  /** The text of a tree that is empty down to height 1. Other trees use only its front part. */
  private readonly bytes: Uint8Array;
  /** Where the empty siblings begin. */
  private readonly siblingsAt: number;
  private tree: TreeRoot | undefined;
  private length = 0;

  constructor(
    private readonly suite: HashSuite,
    empty: EmptyTree,
  ) {
    this.rootNode = new Uint8Array(suite.rootNodeBytes);
    const siblings = Buffer.from(emptySiblingsText(empty), "latin1");
    this.siblingsAt = OPEN.length + 2 * suite.rootNodeBytes + 1;
    this.bytes = new Uint8Array(this.siblingsAt + siblings.length);
    this.bytes.set(OPEN, 0);
    this.bytes[this.siblingsAt - 1] = QUOTE;
    this.bytes.set(siblings, this.siblingsAt);
  }

  /** @param emptyFrom - siblings at this height and above are empty. @returns a view that the next call changes */
  of(tree: TreeRoot, emptyFrom: number): Uint8Array {
    if (tree !== this.tree) {
      this.suite.encodeRootNodeInto(this.rootNode, 0, tree.nextFreeNode, tree.subRoot);
      writeHexInto(this.bytes, OPEN.length, this.rootNode, 0, this.rootNode.length);
      this.tree = tree;
      this.length = this.siblingsAt + (TREE_HEIGHT - emptyFrom) * PRE_IMAGE_TEXT_BYTES;
    }
    return this.bytes.subarray(0, this.length);
  }
}

/** `,"0x..."` of each sibling from height 39 down to 1 where all are empty. */
export function emptySiblingsText(empty: EmptyTree): string {
  let text = "";
  for (let height = TREE_HEIGHT - 1; height >= 1; height--) {
    const zero = Buffer.from(empty.zeros[height - 1] as Uint8Array).toString("hex");
    text += `,"0x${zero}${zero}"`;
  }
  return text;
}
