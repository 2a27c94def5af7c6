/**
 * Makes multiproofs (docs/proofs.md, section 9): the part of the account tree, and in it a part for each storage tree that is asked
 * about. A large one is made in shares (workers/job/multiJob.ts).
 *
 *   entries (packedCall.ts) -> MultiTables -> a record per leaf, in ascending leaf index -> text or bytes
 *                                              an account with storage: its slots of all entries -> a part of its own
 */
import type {StateReader} from "../../storage/block/stateReader.ts";
import {TAIL_INDEX} from "../../storage/tree/emptyTree.ts";
import {type KeyTable, NO_KEY} from "../../storage/tree/keyTable.ts";
import {MultiPath} from "../../storage/tree/multiPath.ts";
import {storageTree, type Tree} from "../../storage/tree/tree.ts";
import {rangeOf, type Share} from "../job/multiJob.ts";
import {createTables, MultiTables} from "../job/multiTables.ts";
import type {AnswerText} from "./answerText.ts";
import {decodeAccount, entryHKey, locateUnits, makeTables} from "./multiPlaces.ts";
import type {PartForm} from "./partForm.ts";

/** The whole of a stage, as one share. */
const WHOLE: Share = {stage: "write", index: 0, count: 1};

export class MultiProver {
  private readonly store: StateReader;
  private readonly accountPath: MultiPath;
  private readonly slotPath: MultiPath;

  constructor(store: StateReader) {
    this.store = store;
    this.accountPath = new MultiPath(store.suite, store.empty);
    this.slotPath = new MultiPath(store.suite, store.empty);
  }

  /**
   * Appends the part of the account tree, with all storage parts.
   *
   * @param call - one packed call, with 1 to MAX_PROVED_KEYS entries and as many keys
   * @throws StoreError RECORD_MISSING, RECORD_DAMAGED
   */
  write(text: AnswerText, form: PartForm, accounts: Tree, call: Buffer): void {
    const tables = new MultiTables(createTables(call, ArrayBuffer));
    locateUnits(this.store, accounts, tables, [0, tables.units], true);
    this.writeShare(text, form, accounts, tables, WHOLE);
  }

  /** Does a locate share. @throws as `write` */
  locateShare(accounts: Tree, tables: MultiTables, share: Share): void {
    locateUnits(this.store, accounts, tables, rangeOf(share, tables.units), false);
  }

  /** Does a write share: appends its range of the text. All locate shares must be done, and the first write share. @throws as `write` */
  writeShare(text: AnswerText, form: PartForm, accounts: Tree, tables: MultiTables, share: Share): void {
    const {store, accountPath} = this;
    if (share.index === 0) makeTables(tables);
    const part = tables.accountPart;
    if (share.index === 0) form.openPart(text, accounts.root.nextFreeNode, part);
    const [from, end] = rangeOf(share, tables.records);
    if (from < end) {
      let leaf = tables.leafOf(from);
      accountPath.begin(store.pages, accounts, part, leaf);
      for (; leaf < tables.accountLeaves && tables.recordOf(leaf) < end; leaf++)
        this.writeRecord(text, form, tables, part, leaf, [from, end]);
      accountPath.end();
    }
    if (share.index === share.count - 1) form.closePart(text);
  }

  /** Writes what lies in the range of the record of an account's leaf, and of the records of its storage part. */
  private writeRecord(
    text: AnswerText,
    form: PartForm,
    tables: MultiTables,
    part: KeyTable,
    leaf: number,
    [from, end]: readonly [number, number],
  ): void {
    const {store, accountPath} = this;
    const record = tables.recordOf(leaf);
    const slots = tables.storagePart(leaf);
    const own = part.ownKeys[leaf] as number;
    const opens = record >= from;
    accountPath.read(store.pages, leaf);
    const account = own === NO_KEY ? undefined : decodeAccount(accountPath.value);
    if (opens) {
      const leafIndex = part.leafIndexes[leaf] as number;
      form.openRecord(text, leaf, leafIndex, accountPath);
      if (account !== undefined) form.account(text, account, slots !== undefined);
      else if (leafIndex > TAIL_INDEX) form.neighbour(text, accountPath.hashes);
    }
    if (slots !== undefined && account?.storage !== undefined) {
      const hKey = entryHKey(store, tables.call, tables.entries[own] as number);
      const tree = storageTree(store, account.storage.tree, hKey);
      if (opens) form.openPart(text, tree.root.nextFreeNode, slots);
      this.writeSlots(text, form, tree, slots, [Math.max(from - record - 1, 0), end - record - 1]);
    }
    if (record + (slots?.leafIndexes.length ?? 0) < end) form.closeRecord(text, accountPath);
  }

  /** Writes the records of slots in the range, and closes the part if the last one is among them. */
  private writeSlots(
    text: AnswerText,
    form: PartForm,
    tree: Tree,
    part: KeyTable,
    [from, end]: readonly [number, number],
  ): void {
    const {store, slotPath} = this;
    const {leafIndexes, ownKeys} = part;
    if (from < Math.min(end, leafIndexes.length)) slotPath.begin(store.pages, tree, part, from);
    for (let leaf = from; leaf < end && leaf < leafIndexes.length; leaf++) {
      const leafIndex = leafIndexes[leaf] as number;
      slotPath.read(store.pages, leaf);
      form.openRecord(text, leaf, leafIndex, slotPath);
      if (ownKeys[leaf] !== NO_KEY) form.slot(text, slotPath.value);
      else if (leafIndex > TAIL_INDEX) form.neighbour(text, slotPath.hashes);
      form.closeRecord(text, slotPath);
    }
    slotPath.end();
    if (end >= leafIndexes.length) form.closePart(text);
  }
}
