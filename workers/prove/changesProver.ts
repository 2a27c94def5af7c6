/**
 * Makes proofs of what differs between two blocks (docs/proofs.md, section 16): the leaves at both blocks, and the
 * nodes that are the same.
 *
 *   0x04 | block | block | [storage of one account: its proof at both blocks, each after its length u16]
 *        | from: account u40, slot u40 | end: account u40, slot u40 | changes of trees
 *
 * "All" is one walk: after an account whose storage differs, the changes of its storage tree follow.
 */
import type {StateReader} from "../../storage/block/stateReader.ts";
import {leafAt} from "../../storage/page/leafPage.ts";
import {decodeStoredAccount} from "../../storage/tree/account.ts";
import type {Tree} from "../../storage/tree/tree.ts";
import {newTreeRoot, type TreeRoot} from "../../storage/tree/treeRoot.ts";
import {type ChangeCursor, ChangeScope, type ChangesCall, readChangesCall} from "../messages/changesCall.ts";
import {MAX_RECORDS_BYTES} from "../messages/leavesCall.ts";
import type {AnswerText} from "./answerText.ts";
import {BLOCK_BYTES, writeBlock} from "./blockBytes.ts";
import {type AnswerLimits, ChangesAnswer} from "./changesAnswer.ts";
import {findStorage, type ProvedLeaves} from "./leavesProver.ts";
import type {MultiProver} from "./multiProver.ts";
import {NO_STOP, TreeChanges} from "./treeChanges.ts";
import {NEVER_YIELDS, type YieldPoint} from "./yieldPoint.ts";

const FIRST_BYTE = 0x04;
const INDEX_BYTES = 5;
const CURSOR_BYTES = 2 * INDEX_BYTES;
const HEAD_BYTES = 1 + 2 * BLOCK_BYTES;
/** Reading so many, and writing what is in them, takes a thread 30 ms where they are on disk. */
const LIMITS: AnswerLimits = {bytes: MAX_RECORDS_BYTES, pages: 2048};

export class ChangesProver {
  private readonly accounts: TreeChanges;
  private readonly slots: TreeChanges;
  private readonly newTree: TreeRoot;
  private answer: ChangesAnswer | undefined;
  private cursor: ChangeCursor = {account: 0, slot: 0};
  /** Where the answer ends. */
  private end: ChangeCursor = {account: NO_STOP, slot: NO_STOP};
  private slotCount = 0;
  private hasStorage = false;

  constructor(
    private readonly store: StateReader,
    private readonly multi: MultiProver,
    private readonly limits: AnswerLimits = LIMITS,
    yieldPoint: YieldPoint = NEVER_YIELDS,
  ) {
    this.accounts = new TreeChanges(store, true, yieldPoint, (leafIndex, old, young) =>
      this.followAccount(leafIndex, old, young),
    );
    this.slots = new TreeChanges(store, false, yieldPoint);
    this.newTree = newTreeRoot(store.empty);
  }

  /** @param old - the account tree at fromBlock. @param young - at toBlock, which may be older. @throws StoreError */
  write(text: AnswerText, old: Tree, young: Tree, call: Buffer): ProvedLeaves {
    const asked = readChangesCall(call);
    const {store} = this;
    const answer = new ChangesAnswer(text, store.pages, this.limits, asked.count);
    this.answer = answer;
    this.cursor = asked.cursor;
    this.end = {account: NO_STOP, slot: NO_STOP};
    this.slotCount = 0;
    this.hasStorage = asked.scope === ChangeScope.ALL;
    text.reserve(HEAD_BYTES);
    text.byte(FIRST_BYTE);
    writeBlock(text, asked.fromBlock, store.blockOrThrow(asked.fromBlock));
    writeBlock(text, asked.toBlock, store.blockOrThrow(asked.toBlock));
    if (asked.address !== undefined) {
      this.multi.writeAccount(text, old, call);
      this.multi.writeAccount(text, young, call);
    }
    text.reserve(2 * CURSOR_BYTES);
    writeCursor(text, asked.cursor);
    const endAt = text.size;
    writeCursor(text, this.end);
    if (asked.address === undefined) this.writeAccounts(old, young, asked);
    else this.writeStorageOf(asked.address, old, young);
    text.integerAt(endAt, this.end.account, INDEX_BYTES);
    text.integerAt(endAt + INDEX_BYTES, this.end.slot, INDEX_BYTES);
    return {accounts: answer.leaves - this.slotCount, slots: this.slotCount};
  }

  private writeAccounts(old: Tree, young: Tree, {cursor}: ChangesCall): void {
    const {account, slot} = cursor;
    const shown = slot === 0 ? NO_STOP : account;
    const stop = this.accounts.write(this.answer as ChangesAnswer, 0, old.root, young.root, account, shown);
    if (this.end.account === NO_STOP && stop !== NO_STOP) this.end = {account: stop, slot: 0};
  }

  /** Writes what differs in the storage of an account that was written. */
  private followAccount(leafIndex: number, old: Buffer | undefined, young: Buffer | undefined): void {
    if (!this.hasStorage) return;
    this.writeStorage(leafIndex, this.storageAt(old, leafIndex), this.storageAt(young, leafIndex));
    if (this.end.account !== NO_STOP) this.accounts.stop = leafIndex + 1;
  }

  private storageAt(page: Buffer | undefined, leafIndex: number): TreeRoot {
    const leaf = page && leafAt(page, leafIndex);
    return (leaf && decodeStoredAccount(leaf.value).storage?.tree) ?? this.newTree;
  }

  /** One tree, or both of an account that was deleted and created again, at another leaf index. */
  private writeStorageOf(address: Uint8Array, oldAccounts: Tree, youngAccounts: Tree): void {
    const {newTree, store} = this;
    const old = findStorage(store, oldAccounts, address);
    const young = findStorage(store, youngAccounts, address);
    if (old !== undefined && old.leafIndex === young?.leafIndex)
      this.writeStorage(old.leafIndex, old.tree ?? newTree, young.tree ?? newTree);
    else {
      const parts: (readonly [number, TreeRoot, TreeRoot])[] = [];
      if (old !== undefined) parts.push([old.leafIndex, old.tree ?? newTree, newTree]);
      if (young !== undefined) parts.push([young.leafIndex, newTree, young.tree ?? newTree]);
      parts.sort(([a], [b]) => a - b);
      for (const [leafIndex, before, after] of parts)
        if (this.end.account === NO_STOP) this.writeStorage(leafIndex, before, after);
    }
  }

  /** @param account - its leaf index */
  private writeStorage(account: number, old: TreeRoot, young: TreeRoot): void {
    const {cursor} = this;
    const answer = this.answer as ChangesAnswer;
    // Whatever its pages, a tree is the same at both blocks if its root is.
    const isSame =
      old.nextFreeNode === young.nextFreeNode && Buffer.compare(old.subRoot, young.subRoot) === 0;
    if (account < cursor.account || isSame) return;
    const from = account === cursor.account ? cursor.slot : 0;
    const before = answer.leaves;
    const stop = this.slots.write(answer, account, old, young, from);
    if (stop !== NO_STOP) this.end = {account, slot: stop};
    this.slotCount += answer.leaves - before;
  }
}

function writeCursor(text: AnswerText, {account, slot}: ChangeCursor): void {
  text.integer(account, INDEX_BYTES);
  text.integer(slot, INDEX_BYTES);
}
