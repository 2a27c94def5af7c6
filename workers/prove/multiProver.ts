/**
 * Makes multiproofs (docs/proofs.md, section 9): the part of the account tree, and in it a part for each storage tree that is asked
 * about.
 *
 *   entries (packedCall.ts) -> hKeys -> KeyTable -> a record per leaf, in ascending leaf index -> text or bytes
 *                                                     an account with storage: its slots of all entries -> a part of its own
 */
import type {StateReader} from "../../storage/block/stateReader.ts";
import {WORD_BYTES} from "../../storage/hash/suite.ts";
import {type Account, decodeStoredAccount} from "../../storage/tree/account.ts";
import {FIRST_FREE_NODE, TAIL_INDEX} from "../../storage/tree/emptyTree.ts";
import {type KeyTable, locateKeys, NO_KEY, PRESENT} from "../../storage/tree/keyTable.ts";
import {MultiPath} from "../../storage/tree/multiPath.ts";
import {storageTree, type Tree} from "../../storage/tree/tree.ts";
import {ADDRESS_AT, KEYS_AT, listEntries, readKeyCount} from "../job/packedCall.ts";
import type {AnswerText} from "./answerText.ts";
import type {PartForm} from "./partForm.ts";

const ADDRESS_BYTES = 20;

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
    const {store, accountPath} = this;
    const entries = listEntries(call);
    const hKeys: Uint8Array[] = [];
    for (const entry of entries) {
      const at = entry + ADDRESS_AT;
      hKeys.push(store.suite.hashAddress(call.subarray(at, at + ADDRESS_BYTES)));
    }
    const table = locateKeys(accounts, hKeys);
    const entriesOf = groupEntries(entries, table);
    form.openPart(text, accounts.root.nextFreeNode, table);
    accountPath.begin(store.pages, accounts, table);
    for (let leaf = 0; leaf < table.leafIndexes.length; leaf++) {
      const leafIndex = table.leafIndexes[leaf] as number;
      accountPath.read(store.pages, leaf);
      form.openRecord(text, leaf, leafIndex, accountPath);
      const own = table.ownKeys[leaf] as number;
      if (own !== NO_KEY) {
        this.writeAccount(text, form, hKeys[own] as Uint8Array, call, entriesOf[leaf] as readonly number[]);
      } else if (leafIndex > TAIL_INDEX) form.neighbour(text, accountPath.hashes);
      form.closeRecord(text, accountPath);
    }
    accountPath.end();
    form.closePart(text);
  }

  /** Writes the account that `accountPath` is at. @param entries - those that name it */
  private writeAccount(
    text: AnswerText,
    form: PartForm,
    hKey: Uint8Array,
    call: Buffer,
    entries: readonly number[],
  ): void {
    const account = withoutNewTree(decodeStoredAccount(this.accountPath.value));
    const {storage} = account;
    const slotCount = storage === undefined ? 0 : countKeys(call, entries);
    form.account(text, account, slotCount > 0);
    if (storage === undefined || slotCount === 0) return;
    const hKeys: Uint8Array[] = [];
    for (const entry of entries) {
      const end = entry + KEYS_AT + readKeyCount(call, entry) * WORD_BYTES;
      for (let at = entry + KEYS_AT; at < end; at += WORD_BYTES)
        hKeys.push(this.store.suite.hashSlot(call.subarray(at, at + WORD_BYTES)));
    }
    this.writeStorage(text, form, storageTree(this.store, storage.tree, hKey), hKeys);
  }

  private writeStorage(text: AnswerText, form: PartForm, slots: Tree, hKeys: readonly Uint8Array[]): void {
    const {store, slotPath} = this;
    const table = locateKeys(slots, hKeys);
    form.openPart(text, slots.root.nextFreeNode, table);
    slotPath.begin(store.pages, slots, table);
    for (let leaf = 0; leaf < table.leafIndexes.length; leaf++) {
      const leafIndex = table.leafIndexes[leaf] as number;
      slotPath.read(store.pages, leaf);
      form.openRecord(text, leaf, leafIndex, slotPath);
      if (table.ownKeys[leaf] !== NO_KEY) form.slot(text, slotPath.value);
      else if (leafIndex > TAIL_INDEX) form.neighbour(text, slotPath.hashes);
      form.closeRecord(text, slotPath);
    }
    slotPath.end();
    form.closePart(text);
  }
}

/** A storage tree to which only zeros were written has the root of a new tree, and stands as no storage. */
function withoutNewTree(account: Account): Account {
  const isNew = account.storage?.tree.nextFreeNode === FIRST_FREE_NODE;
  return isNew ? {...account, storage: undefined} : account;
}

/** @returns by leaf: the entries that name it as present, in request order. undefined for a leaf that none does */
function groupEntries(entries: readonly number[], {lefts, rights}: KeyTable): (number[] | undefined)[] {
  const groups: (number[] | undefined)[] = [];
  for (let at = 0; at < entries.length; at++) {
    if (rights[at] !== PRESENT) continue;
    const leaf = lefts[at] as number;
    const group = groups[leaf];
    if (group === undefined) groups[leaf] = [entries[at] as number];
    else group.push(entries[at] as number);
  }
  return groups;
}

function countKeys(call: Buffer, entries: readonly number[]): number {
  let count = 0;
  for (const entry of entries) count += readKeyCount(call, entry);
  return count;
}
