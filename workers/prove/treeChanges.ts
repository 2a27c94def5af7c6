/**
 * Writes the leaves that differ between two versions of a tree (docs/proofs.md, 16.3). It goes down both at the same
 * time, and only where they have different nodes, so it reads only pages that one of them does not share with the
 * other:
 *
 *   height 2        *  *'                     equal      0, and the node once
 *                 /      \                    different  1, and down to the leaves; beside the range, both nodes
 *   height 1     =        * *'
 *                        /    \
 *   height 0            =      leaf 3, leaf 3'
 */
import type {StateReader} from "../../storage/block/stateReader.ts";
import {compareWordAt} from "../../storage/hash/hKeyOrder.ts";
import {WORD_BYTES} from "../../storage/hash/suite.ts";
import {entryKeyAt, entryNext, entryPrev, findEntry} from "../../storage/page/leafPage.ts";
import {HEAD_INDEX, TAIL_INDEX} from "../../storage/tree/emptyTree.ts";
import {KEYS_PER_RECORD, type LeafKeys, missingKey} from "../../storage/tree/leafKeys.ts";
import {TreePages} from "../../storage/tree/treePages.ts";
import type {TreeRoot} from "../../storage/tree/treeRoot.ts";
import type {ChangesAnswer} from "./changesAnswer.ts";
import {LEAF_BYTES, type LeafForm, linkWidth, writeLeaf, writeLinks} from "./leafRecord.ts";
import type {YieldPoint} from "./yieldPoint.ts";

const INDEX_BYTES = 5;
/** A byte of bits, and a node of each version, or both of a leaf. */
const STEP_BYTES = 2 + 2 * LEAF_BYTES;
/** Above the index of every leaf. */
export const NO_STOP: number = 2 ** 40 - 1;

/** @param pages - the leaf's, in the old version and in the new one; undefined: it is beyond the end */
type OnLeaf = (leafIndex: number, old: Buffer | undefined, young: Buffer | undefined) => void;

export class TreeChanges {
  /** The first leaf that is not written. Whoever lowers it ends the answer there. */
  stop = NO_STOP;
  private readonly old: TreePages;
  private readonly young: TreePages;
  private readonly oldNode = new Uint8Array(WORD_BYTES);
  private readonly youngNode = new Uint8Array(WORD_BYTES);
  private form: LeafForm;
  private answer: ChangesAnswer | undefined;
  private owner = 0;
  /** Those of the record `keysPage`. */
  private keys: LeafKeys = [];
  private keysPage = -1;
  private from = 0;
  private oldPositions = 0;
  private youngPositions = 0;
  private shown = NO_STOP;

  constructor(
    private readonly store: StateReader,
    private readonly isAccounts: boolean,
    private readonly yieldPoint: YieldPoint,
    private readonly onLeaf?: OnLeaf,
  ) {
    this.old = new TreePages(store.suite, store.empty);
    this.young = new TreePages(store.suite, store.empty);
    this.form = {isAccounts, width: 1};
  }

  /**
   * @param owner - of the tree's leaf keys: 0 for accounts, else the account's leaf index
   * @param shown - a leaf that an answer before had too; NO_STOP: none
   * @returns the leaf at which the answer ends, which differs too; NO_STOP: none
   * @throws StoreError RECORD_MISSING, RECORD_DAMAGED
   */
  write(
    answer: ChangesAnswer,
    owner: number,
    old: TreeRoot,
    young: TreeRoot,
    from: number,
    shown = NO_STOP,
  ): number {
    const positions = Math.max(old.nextFreeNode, young.nextFreeNode);
    this.answer = answer;
    this.owner = owner;
    this.keysPage = -1;
    this.from = from;
    this.shown = shown;
    this.stop = NO_STOP;
    this.oldPositions = old.nextFreeNode;
    this.youngPositions = young.nextFreeNode;
    this.form = {isAccounts: this.isAccounts, width: linkWidth(positions)};
    this.old.begin(this.store.pages, old);
    this.young.begin(this.store.pages, young);
    const {text} = answer;
    text.reserve(2 * INDEX_BYTES);
    text.integer(old.nextFreeNode, INDEX_BYTES);
    text.integer(young.nextFreeNode, INDEX_BYTES);
    let height = 0;
    while (2 ** height < positions) height++;
    this.visit(height, 0);
    return this.stop;
  }

  /** Hot: runs some 40 times per leaf. */
  private visit(height: number, index: number): void {
    const {old, young, oldNode, youngNode, oldPositions, youngPositions} = this;
    const answer = this.answer as ChangesAnswer;
    const {text} = answer;
    const start = index * 2 ** height;
    if (start >= oldPositions && start >= youngPositions) return;
    old.nodeInto(height, index, oldNode, 0);
    young.nodeInto(height, index, youngNode, 0);
    text.reserve(STEP_BYTES);
    if (compareWordAt(oldNode, 0, youngNode) === 0) {
      answer.writeBit(false);
      if (start < oldPositions && start < youngPositions) text.word(oldNode, 0);
      return;
    }
    answer.writeBit(true);
    this.yieldPoint.check();
    if (!this.isWithin(start, height)) {
      if (start < oldPositions) text.word(oldNode, 0);
      if (start < youngPositions) text.word(youngNode, 0);
    } else if (height === 0) this.writeChange(start);
    else {
      this.visit(height - 1, 2 * index);
      this.visit(height - 1, 2 * index + 1);
    }
  }

  /** Ends the answer at a leaf for which nothing is left. The head of a storage tree is always taken. */
  private isWithin(start: number, height: number): boolean {
    if (start >= this.stop || start + 2 ** height <= this.from) return false;
    if (height > 0 || (start === HEAD_INDEX && !this.isAccounts)) return true;
    if (!(this.answer as ChangesAnswer).isFull) return true;
    this.stop = start;
    return false;
  }

  private writeChange(leafIndex: number): void {
    const {form, owner, oldPositions, youngPositions} = this;
    const answer = this.answer as ChangesAnswer;
    const {text} = answer;
    if (leafIndex <= TAIL_INDEX) {
      text.integer(this.endLink(this.old, leafIndex), form.width);
      text.integer(this.endLink(this.young, leafIndex), form.width);
      // The head of a storage tree is taken whatever is left, so it must not count.
      if (this.isAccounts || leafIndex === TAIL_INDEX) answer.leaves++;
      return;
    }
    const key = this.readKey(leafIndex);
    const old = leafIndex < oldPositions ? this.old.pageOver(leafIndex, 0) : undefined;
    const young = leafIndex < youngPositions ? this.young.pageOver(leafIndex, 0) : undefined;
    const oldEntry = old === undefined ? -1 : findEntry(old, leafIndex);
    if (key === undefined && (oldEntry >= 0 || (young !== undefined && findEntry(young, leafIndex) >= 0)))
      throw missingKey(owner, leafIndex);
    if (old !== undefined) writeLeaf(text, form, old, leafIndex, key);
    if (young !== undefined && (old === undefined || oldEntry < 0))
      writeLeaf(text, form, young, leafIndex, key);
    else if (young !== undefined && old !== undefined) this.writeYoung(old, oldEntry, young, leafIndex);
    if (leafIndex !== this.shown) answer.leaves++;
    this.onLeaf?.(leafIndex, old, young);
  }

  /** Leaves come in order, so a record of keys is read once. @returns undefined: no leaf stands there */
  private readKey(leafIndex: number): Uint8Array | undefined {
    const page = Math.floor(leafIndex / KEYS_PER_RECORD);
    if (page !== this.keysPage) {
      this.keys = this.store.readLeafKeys(this.owner, page);
      this.keysPage = page;
    }
    return this.keys[leafIndex % KEYS_PER_RECORD];
  }

  /** What became of a leaf that was there: a bit, and only its links if its value is the same. */
  private writeYoung(old: Buffer, oldEntry: number, young: Buffer, leafIndex: number): void {
    const {form} = this;
    const answer = this.answer as ChangesAnswer;
    const {text} = answer;
    const entry = findEntry(young, leafIndex);
    const hasValue =
      entry < 0 ||
      compareWordAt(
        old,
        entryKeyAt(oldEntry) + WORD_BYTES,
        young.subarray(entryKeyAt(entry) + WORD_BYTES),
      ) !== 0;
    answer.writeBit(hasValue);
    if (hasValue) writeLeaf(text, form, young, leafIndex, undefined);
    else writeLinks(text, form.width, young, entry);
  }

  /** The link of head or tail that is not known. */
  private endLink(pages: TreePages, leafIndex: number): number {
    if (pages.isNew) return leafIndex === HEAD_INDEX ? TAIL_INDEX : HEAD_INDEX;
    const page = pages.pageOver(leafIndex, 0);
    const entry = findEntry(page, leafIndex);
    return leafIndex === HEAD_INDEX ? entryNext(page, entry) : entryPrev(page, entry);
  }
}
