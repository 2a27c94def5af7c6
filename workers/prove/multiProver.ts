/**
 * Makes multiproofs (docs/proofs.md, section 9; the bytes: 9.2 and 9.3): the part of the account tree, and in it a part
 * for each storage tree that is asked about.
 *
 *   entries (packedCall.ts) -> hKeys -> KeyTable -> a record per leaf, in ascending leaf index
 *                                                     an account with storage: its slots of all entries -> a part of its own
 */
import type {StateReader} from "../../storage/block/stateReader.ts";
import {TREE_HEIGHT, WORD_BYTES} from "../../storage/hash/suite.ts";
import {type Account, decodeStoredAccount} from "../../storage/tree/account.ts";
import {FIRST_FREE_NODE, TAIL_INDEX} from "../../storage/tree/emptyTree.ts";
import {type KeyTable, locateKeys, NO_KEY, PRESENT} from "../../storage/tree/keyTable.ts";
import {MultiPath} from "../../storage/tree/multiPath.ts";
import {stripZeros} from "../../storage/tree/shortNumber.ts";
import {storageTree, type Tree} from "../../storage/tree/tree.ts";
import {
  ADDRESS_AT,
  ADDRESS_BYTES,
  accountCall,
  KEYS_AT,
  listEntries,
  readKeyCount,
} from "../messages/packedCall.ts";
import type {AnswerText} from "./answerText.ts";
import {NEVER_YIELDS, type YieldPoint} from "./yieldPoint.ts";

/** The first byte of a multiproof: it begins with the account tree (docs/proofs.md, 9.1). */
const ACCOUNT_TREE = 0x01;
const LENGTH_BYTES = 2;
/** In the key table: the key is absent, and a right leaf follows. */
const ABSENT = 0x8000;
/** Bits of an account's flags. The others are the length of the nonce. */
const HAS_STORAGE = 0x80;
const HAS_CODE = 0x40;
const INDEX_BYTES = 5;
const LEAF_NUMBER_BYTES = 2;
/** Upper bounds. */
const HEAD_BYTES = 3 * INDEX_BYTES;
const NUMBER_BYTES = 1 + WORD_BYTES;
const ACCOUNT_BYTES = 3 * NUMBER_BYTES + 3 * WORD_BYTES;

export class MultiProver {
  private readonly accountPath: MultiPath;
  private readonly slotPath: MultiPath;

  constructor(
    private readonly store: StateReader,
    private readonly yieldPoint: YieldPoint = NEVER_YIELDS,
  ) {
    this.accountPath = new MultiPath(store.suite, store.empty);
    this.slotPath = new MultiPath(store.suite, store.empty);
  }

  /** Appends a multiproof. @param call - one packed call, with at least one entry. @throws StoreError */
  write(text: AnswerText, accounts: Tree, call: Buffer): void {
    const {yieldPoint, store} = this;
    text.reserve(1);
    text.byte(ACCOUNT_TREE);
    const entries = listEntries(call);
    const hKeys = entries.map(entry => {
      yieldPoint.check();
      const at = entry + ADDRESS_AT;
      return store.suite.hashAddress(call.subarray(at, at + ADDRESS_BYTES));
    });
    const table = locateKeys(accounts, hKeys, () => yieldPoint.check());
    const slotsOf = this.hashSlots(call, entries, table);
    this.writePart(text, accounts, table, this.accountPath, (value, leaf) => {
      const hKey = hKeys[table.ownKeys[leaf] as number] as Uint8Array;
      this.writeAccountLeaf(text, value, hKey, slotsOf.get(leaf));
    });
  }

  /** Appends the proof of the account that a call for one storage tree names, after its length. @throws as `write` */
  writeAccount(text: AnswerText, accounts: Tree, call: Buffer): void {
    text.reserve(LENGTH_BYTES);
    const lengthAt = text.size;
    text.integer(0, LENGTH_BYTES);
    this.write(text, accounts, accountCall(call));
    text.integerAt(lengthAt, text.size - lengthAt - LENGTH_BYTES, LENGTH_BYTES);
  }

  /** @returns by leaf of the account tree: the hKeys of the slots of all entries that name it */
  private hashSlots(
    call: Buffer,
    entries: readonly number[],
    {lefts, rights}: KeyTable,
  ): Map<number, Uint8Array[]> {
    const slotsOf = new Map<number, Uint8Array[]>();
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i] as number;
      const count = readKeyCount(call, entry);
      if (rights[i] !== PRESENT || count === 0) continue;
      const leaf = lefts[i] as number;
      const hKeys = slotsOf.get(leaf) ?? [];
      slotsOf.set(leaf, hKeys);
      const end = entry + KEYS_AT + count * WORD_BYTES;
      for (let at = entry + KEYS_AT; at < end; at += WORD_BYTES) {
        this.yieldPoint.check();
        hKeys.push(this.store.suite.hashSlot(call.subarray(at, at + WORD_BYTES)));
      }
    }
    return slotsOf;
  }

  /** @param slots - hKeys of the slots that are asked for. undefined: none is */
  private writeAccountLeaf(
    text: AnswerText,
    value: Uint8Array,
    hKey: Uint8Array,
    slots: readonly Uint8Array[] | undefined,
  ): void {
    const stored = decodeStoredAccount(value);
    // A storage tree to which only zeros were written has the root of a new tree, and stands as no storage.
    const isNew = stored.storage?.tree.nextFreeNode === FIRST_FREE_NODE;
    const account = isNew ? {...stored, storage: undefined} : stored;
    const hasPart = account.storage !== undefined && slots !== undefined;
    writeAccount(text, account, hasPart);
    if (!hasPart) return;
    const tree = storageTree(this.store, account.storage.tree, hKey);
    const table = locateKeys(tree, slots, () => this.yieldPoint.check());
    this.writePart(text, tree, table, this.slotPath, slot => writeNumber(text, slot));
  }

  /**
   * Head and tail have no content.
   * @param writeOwn - writes the content of a leaf that a key names as present, from its stored value
   */
  private writePart(
    text: AnswerText,
    tree: Tree,
    table: KeyTable,
    path: MultiPath,
    writeOwn: (value: Uint8Array, leaf: number) => void,
  ): void {
    const {pages} = this.store;
    const {leafIndexes, ownKeys} = table;
    openPart(text, tree.root.nextFreeNode, table);
    path.begin(pages, tree, table);
    for (let leaf = 0; leaf < leafIndexes.length; leaf++) {
      this.yieldPoint.check();
      path.read(leaf);
      text.reserve(HEAD_BYTES + 2 * WORD_BYTES);
      text.integer(path.prev, INDEX_BYTES);
      text.integer(path.next, INDEX_BYTES);
      text.raw(path.bitmap);
      if (ownKeys[leaf] !== NO_KEY) writeOwn(path.value, leaf);
      else if ((leafIndexes[leaf] as number) > TAIL_INDEX) text.raw(path.hashes);
      text.reserve(TREE_HEIGHT * WORD_BYTES);
      const {siblingsIn, siblingsAt, siblingCount} = path;
      for (let i = 0; i < siblingCount; i++) text.word(siblingsIn[i] as Uint8Array, siblingsAt[i] as number);
    }
    path.end();
  }
}

function openPart(text: AnswerText, nextFreeNode: number, {lefts, rights, leafIndexes}: KeyTable): void {
  text.reserve(HEAD_BYTES + 2 * LEAF_NUMBER_BYTES * lefts.length + INDEX_BYTES * leafIndexes.length);
  text.integer(nextFreeNode, INDEX_BYTES);
  text.integer(leafIndexes.length, LEAF_NUMBER_BYTES);
  for (let key = 0; key < lefts.length; key++) {
    const [left, right] = [lefts[key] as number, rights[key] as number];
    text.integer(right === PRESENT ? left : ABSENT + left, LEAF_NUMBER_BYTES);
    if (right !== PRESENT) text.integer(right, LEAF_NUMBER_BYTES);
  }
  for (let leaf = 0; leaf < leafIndexes.length; leaf++)
    text.integer(leafIndexes[leaf] as number, INDEX_BYTES);
}

/** @param hasPart - its storage part follows */
function writeAccount(text: AnswerText, {nonce, balance, code, storage}: Account, hasPart: boolean): void {
  text.reserve(ACCOUNT_BYTES);
  text.byte((storage === undefined ? 0 : HAS_STORAGE) | (code === undefined ? 0 : HAS_CODE) | nonce.length);
  text.raw(nonce);
  writeNumber(text, balance);
  if (code !== undefined) {
    const size = Buffer.alloc(4);
    size.writeUInt32BE(code.codeSize);
    writeNumber(text, stripZeros(size));
    text.raw(code.codeHash);
    text.raw(code.keccakCodeHash);
  }
  if (storage !== undefined && !hasPart) text.raw(storage.storageRoot);
}

/** @param number - without leading zeros */
function writeNumber(text: AnswerText, number: Uint8Array): void {
  text.reserve(NUMBER_BYTES);
  text.byte(number.length);
  text.raw(number);
}
