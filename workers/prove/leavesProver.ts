/**
 * Makes proofs of the leaves of a range of one tree (docs/proofs.md, section 15): the leaves in index order, and the
 * nodes to the left and to the right of them.
 *
 *   0x03 | block | [storage tree: length u16, proof bytes of its account] | nextFreeNode u40 | from u40 | count u16 | records | nodes
 *
 *   height 3              *                       from 2, count 3: the leaves 2, 3 and 4
 *                     /       \
 *   height 2       *             *                nodes  a  left of the range, from the top down
 *                /   \         /   \                     b  right of it, from the bottom up
 *   height 1    a     *       *     b
 *              / \   / \     / \   / \
 *   height 0  0   1 2   3   4   c 6   7                  (c before b)
 */
import type {StateReader} from "../../storage/block/stateReader.ts";
import {TREE_HEIGHT, WORD_BYTES} from "../../storage/hash/suite.ts";
import {entryNext, entryPrev, findEntry} from "../../storage/page/leafPage.ts";
import {decodeStoredAccount} from "../../storage/tree/account.ts";
import {FIRST_FREE_NODE, HEAD_INDEX, TAIL_INDEX} from "../../storage/tree/emptyTree.ts";
import {KEYS_PER_RECORD, missingKey} from "../../storage/tree/leafKeys.ts";
import {LeafView} from "../../storage/tree/leafView.ts";
import type {Tree} from "../../storage/tree/tree.ts";
import {TreePages} from "../../storage/tree/treePages.ts";
import type {TreeRoot} from "../../storage/tree/treeRoot.ts";
import {CallFailure} from "../messages/failure.ts";
import {MAX_RECORDS_BYTES, readLeavesCall} from "../messages/leavesCall.ts";
import type {AnswerText} from "./answerText.ts";
import {BLOCK_BYTES, writeBlock} from "./blockBytes.ts";
import {LEAF_BYTES, type LeafForm, linkWidth, writeLeaf} from "./leafRecord.ts";
import type {MultiProver} from "./multiProver.ts";
import {NEVER_YIELDS, type YieldPoint} from "./yieldPoint.ts";

const FIRST_BYTE = 0x03;
const INDEX_BYTES = 5;
const COUNT_BYTES = 2;
const HEAD_BYTES = 1 + BLOCK_BYTES + 2 * INDEX_BYTES + COUNT_BYTES;
const NODES_BYTES = 2 * TREE_HEIGHT * WORD_BYTES;

/** How many leaves an answer proves. */
export interface ProvedLeaves {
  readonly accounts: number;
  readonly slots: number;
}

/** @returns the storage tree of the account of this address, and where its leaf stands. @throws StoreError */
export function findStorage({suite}: StateReader, accounts: Tree, address: Uint8Array) {
  const view = new LeafView();
  const position = accounts.open(view, suite.hashAddress(address));
  if (!position.present) return undefined;
  const {storage} = decodeStoredAccount(view.leaf?.value as Uint8Array);
  return {leafIndex: position.leafIndex, tree: storage?.tree};
}

export class LeavesProver {
  private readonly pages: TreePages;
  private readonly node = new Uint8Array(WORD_BYTES);

  /** @param maxBytes - of the records of one answer, unless it is one record */
  constructor(
    private readonly store: StateReader,
    private readonly multi: MultiProver,
    private readonly maxBytes = MAX_RECORDS_BYTES,
    private readonly yieldPoint: YieldPoint = NEVER_YIELDS,
  ) {
    this.pages = new TreePages(store.suite, store.empty);
  }

  /** @returns how many leaves it proves. @throws CallFailure if the range begins beyond the tree's end; StoreError */
  write(text: AnswerText, accounts: Tree, call: Buffer): ProvedLeaves {
    const {block, address, from, count} = readLeavesCall(call);
    text.reserve(HEAD_BYTES);
    text.byte(FIRST_BYTE);
    writeBlock(text, block, this.store.blockOrThrow(block));
    if (address === undefined)
      return {accounts: this.writeRange(text, accounts.root, 0, from, count), slots: 0};
    this.multi.writeAccount(text, accounts, call);
    const {tree, leafIndex = 0} = findStorage(this.store, accounts, address) ?? {};
    if (tree === undefined || tree.nextFreeNode === FIRST_FREE_NODE) return {accounts: 1, slots: 0};
    const slots = this.writeRange(text, tree, leafIndex, from, count);
    return {accounts: 1, slots};
  }

  /** @param owner - of the tree's leaf keys. @returns how many leaves it has written */
  private writeRange(text: AnswerText, tree: TreeRoot, owner: number, from: number, count: number): number {
    const {nextFreeNode} = tree;
    if (from >= nextFreeNode) {
      const detail = `params[1] (fromIndex): expected an index below 0x${nextFreeNode.toString(16)}, the tree's next free one, got 0x${from.toString(16)}`;
      throw new CallFailure({failure: "CALL_INVALID", detail});
    }
    const most = Math.min(count, nextFreeNode - from);
    text.reserve(HEAD_BYTES + NODES_BYTES + Math.min(most * LEAF_BYTES, this.maxBytes + LEAF_BYTES));
    text.integer(nextFreeNode, INDEX_BYTES);
    text.integer(from, INDEX_BYTES);
    const countAt = text.size;
    text.integer(0, COUNT_BYTES);
    this.pages.begin(this.store.pages, tree);
    // Before the leaves, while the pages over the first one are open. Written after them.
    const left = this.readLeftNodes(from);
    const form = {isAccounts: owner === 0, width: linkWidth(nextFreeNode)};
    const written =
      tree.rootPage === 0
        ? this.writeNewTree(text, from, most)
        : this.writeLeaves(text, form, owner, from, most);
    text.integerAt(countAt, written, COUNT_BYTES);
    text.raw(left);
    this.writeRightNodes(text, from + written - 1, nextFreeNode);
    return written;
  }

  /** Hot: its loop runs once per leaf. @returns how many leaves fit */
  private writeLeaves(text: AnswerText, form: LeafForm, owner: number, from: number, count: number): number {
    const {pages, store, maxBytes} = this;
    const start = text.size;
    let leafIndex = from;
    while (leafIndex < from + count) {
      this.yieldPoint.check();
      const keys = store.readLeafKeys(owner, Math.floor(leafIndex / KEYS_PER_RECORD));
      const first = leafIndex - (leafIndex % KEYS_PER_RECORD);
      const end = Math.min(first + KEYS_PER_RECORD, from + count);
      for (; leafIndex < end; leafIndex++) {
        const page = pages.pageOver(leafIndex, 0);
        const before = text.size;
        if (leafIndex > TAIL_INDEX) {
          const key = keys[leafIndex - first];
          if (key === undefined && findEntry(page, leafIndex) >= 0) throw missingKey(owner, leafIndex);
          writeLeaf(text, form, page, leafIndex, key);
        } else if (leafIndex === HEAD_INDEX)
          text.integer(entryNext(page, findEntry(page, leafIndex)), form.width);
        else text.integer(entryPrev(page, findEntry(page, leafIndex)), form.width);
        if (text.size - start <= maxBytes || leafIndex === from) continue;
        text.truncate(before);
        return leafIndex - from;
      }
    }
    return count;
  }

  /** Head and tail of a tree without pages, each by its link to the other. @returns how many of them */
  private writeNewTree(text: AnswerText, from: number, count: number): number {
    for (let leafIndex = from; leafIndex < from + count; leafIndex++)
      text.byte(leafIndex === HEAD_INDEX ? TAIL_INDEX : HEAD_INDEX);
    return count;
  }

  private readLeftNodes(from: number): Buffer {
    const nodes = Buffer.allocUnsafe(TREE_HEIGHT * WORD_BYTES);
    let length = 0;
    for (let height = TREE_HEIGHT - 1; height >= 0; height--) {
      const index = Math.floor(from / 2 ** height);
      if (index % 2 === 0) continue;
      this.pages.nodeInto(height, index - 1, nodes, length);
      length += WORD_BYTES;
    }
    return nodes.subarray(0, length);
  }

  private writeRightNodes(text: AnswerText, last: number, nextFreeNode: number): void {
    for (let height = 0; height < TREE_HEIGHT; height++) {
      const index = Math.floor(last / 2 ** height);
      if (index % 2 === 1 || (index + 1) * 2 ** height >= nextFreeNode) continue;
      this.pages.nodeInto(height, index + 1, this.node, 0);
      text.word(this.node, 0);
    }
  }
}
