/**
 * Makes the first block of an empty store from the full state of that block.
 *
 *   addCode ...
 *   addAccount ...                                      in the order of their leaf indexes
 *   beginSlots -> addSlot ... -> endSlots               for each account with storage, in any order
 *   finish
 *
 * Pages are written ahead, the block's record last, once the root is the expected one. If the process is killed before,
 * the next opening removes the pages. Slots stay in memory for one tree at a time, accounts until the end.
 *
 * Methods throw StoreError BLOCK_INVALID, STATE_ROOT_MISMATCH, WRITE_FAILED.
 */

import type {StateReader} from "../block/stateReader.ts";
import {count} from "../count.ts";
import {StoreError} from "../errors.ts";
import {keccak256} from "../hash/keccak.ts";
import {PairBatch} from "../hash/pairBatch.ts";
import {ACCOUNT_VALUE_BYTES, WORD_BYTES} from "../hash/suite.ts";
import {toHex} from "../hex.ts";
import {codeKey} from "../record/layout.ts";
import {
  type Account,
  type AccountStorage,
  decodeStoredAccount,
  encodeAccountValueInto,
  encodeStoredAccount,
} from "../tree/account.ts";
import {hashTopRoot} from "../tree/emptyTree.ts";
import {ACCOUNTS_OWNER} from "../tree/leafKeys.ts";
import {stripZeros, writeWordInto} from "../tree/shortNumber.ts";
import {newTreeRoot, type TreeRoot} from "../tree/treeRoot.ts";
import {type BuiltBlock, requireFirst, writeFirstBlock} from "./firstBlock.ts";
import {LeafKeyWriter} from "./leafKeyWriter.ts";
import {LeafTable, type TabledLeaf} from "./leafTable.ts";
import {buildTree} from "./treeBuilder.ts";
import type {TreeContext} from "./treeSeal.ts";
import {WriteBatch, type WriteTarget} from "./writeBatch.ts";

interface BuiltAccount extends Pick<Account, "nonce" | "balance" | "code"> {
  /** 32 bytes; undefined: that of a new tree. */
  readonly storageRoot: Uint8Array | undefined;
}

export class StateBuilder {
  private readonly batch: WriteBatch;
  private readonly context: TreeContext;
  private readonly reader: StateReader;
  private readonly codes = new Map<string, {readonly codeHash: Uint8Array; readonly codeSize: number}>();
  private readonly value = new Uint8Array(ACCOUNT_VALUE_BYTES);
  private readonly slotValue = new Uint8Array(WORD_BYTES);
  private readonly accounts: LeafTable;
  /** Offsets of the accounts' values in their table. */
  private valuesAt: number[] = [];
  private slots: LeafTable | undefined;
  private owner = 0;

  private constructor(
    target: WriteTarget,
    nextPage: number,
    private readonly block: BuiltBlock,
    nextFreeNode: number,
    private readonly check: () => void,
  ) {
    this.reader = target.reader;
    this.batch = new WriteBatch(target, nextPage);
    const {suite, empty} = this.reader;
    this.context = {suite, empty, pages: this.batch, pairs: new PairBatch(suite)};
    this.accounts = new LeafTable("the accounts", nextFreeNode);
  }

  /** @param nextFreeNode - of the account tree. @param check - called from time to time; may throw to end the work */
  static async create(
    target: WriteTarget,
    block: BuiltBlock,
    nextFreeNode: number,
    check: () => void,
  ): Promise<StateBuilder> {
    await requireFirst(target, block);
    return new StateBuilder(target, await target.reader.nextPage(), block, nextFreeNode, check);
  }

  get accountCount(): number {
    return this.accounts.count;
  }

  /** @throws StoreError WRITE_FAILED */
  async addCode(code: Uint8Array): Promise<void> {
    const hash = keccak256(code);
    const name = toHex(hash);
    if (this.codes.has(name)) return;
    this.batch.put(codeKey(hash), code);
    this.codes.set(name, {codeHash: this.context.suite.hashCode(code), codeSize: code.length});
    await this.flushIfFull();
  }

  /** @param address - 20 bytes. @throws StoreError BLOCK_INVALID */
  addAccount(leafIndex: number, address: Uint8Array, {storageRoot, ...account}: BuiltAccount): void {
    const {suite, empty} = this.context;
    const storage = storageRoot && {storageRoot, tree: newTreeRoot(empty)};
    const value = encodeStoredAccount({...account, storage});
    this.valuesAt.push(this.accounts.add(leafIndex, suite.hashAddress(address), value, address));
  }

  /** Begins the slots of the account at a leaf. All accounts must have been added. */
  beginSlots(accountIndex: number, nextFreeNode: number): void {
    const position = this.accounts.find(accountIndex);
    if (position === undefined)
      throw invalid(`slots of the account at leaf ${accountIndex}: there is no such account`);
    this.owner = position;
    const name = `the account at leaf ${accountIndex}`;
    const {storage} = this.ownerAccount();
    if (storage === undefined) throw invalid(`${name} has slots, but no storage root`);
    if (storage.tree.rootPage !== 0) throw invalid(`the slots of ${name} come twice`);
    this.slots = new LeafTable(`the slots of ${name}`, nextFreeNode);
  }

  addSlot(leafIndex: number, slot: Uint8Array, value: Uint8Array): void {
    const stored = stripZeros(value);
    if (stored.length === 0) throw invalid(`leaf ${leafIndex} of a storage tree: its value is zero`);
    this.slotTable().add(leafIndex, this.context.suite.hashSlot(slot), stored, stripZeros(slot));
  }

  async endSlots(): Promise<void> {
    const leaves = this.slotTable();
    this.slots = undefined;
    const hashValue = (value: Uint8Array): Uint8Array => {
      writeWordInto(this.slotValue, 0, value);
      return this.context.suite.hashSlotValue(this.slotValue);
    };
    const account = this.ownerAccount();
    const {storageRoot} = account.storage as AccountStorage;
    const tree = await this.build(leaves, this.accounts.leafIndexAt(this.owner), hashValue, storageRoot);
    // The form without the tree has the same length, so the value is overwritten in place.
    this.ownerValue().set(encodeStoredAccount({...account, storage: {storageRoot, tree}}));
  }

  /** Builds the account tree and writes the block, which is finalized: its root was given. */
  async finish(): Promise<void> {
    const {suite, empty} = this.context;
    const hashValue = (value: Uint8Array): Uint8Array => {
      encodeAccountValueInto(this.value, 0, decodeStoredAccount(value), empty);
      return suite.hashAccountValue(this.value);
    };
    const accounts = await this.build(this.accounts, ACCOUNTS_OWNER, hashValue, this.block.stateRoot);
    await writeFirstBlock(this.batch, this.block, {accounts, trie: undefined});
  }

  /** @param owner - of the tree. @throws StoreError STATE_ROOT_MISMATCH unless its root is the expected one */
  private async build(
    leaves: LeafTable,
    owner: number,
    hashValue: (value: Uint8Array) => Uint8Array,
    expected: Uint8Array,
  ): Promise<TreeRoot> {
    const keys = new LeafKeyWriter(this.reader, this.batch, owner, true);
    const tree = await buildTree({
      context: this.context,
      leaves,
      order: leaves.sort(),
      hashValue,
      onLeaf: leaf => {
        if (leaves === this.accounts) this.requireWhole(leaf);
        keys.add(leaf.leafIndex, leaf.key);
      },
      flushIfFull: () => this.flushIfFull(),
    });
    keys.finish();
    const root = hashTopRoot(this.context.suite, tree.nextFreeNode, tree.subRoot);
    if (Buffer.compare(root, expected) === 0) return tree;
    const message = `expected root ${toHex(expected)} of ${leaves.where}, they give ${toHex(root)}`;
    throw new StoreError("STATE_ROOT_MISMATCH", `block ${this.block.header.number}: ${message}`);
  }

  private async flushIfFull(): Promise<void> {
    this.check();
    await this.batch.flushIfFull();
  }

  private slotTable(): LeafTable {
    if (this.slots === undefined) throw new RangeError("slots were not begun");
    return this.slots;
  }

  private ownerValue(): Buffer {
    return this.accounts.valueAt(this.valuesAt[this.owner] as number);
  }

  private ownerAccount(): Account {
    return decodeStoredAccount(this.ownerValue());
  }

  private requireWhole(leaf: TabledLeaf): void {
    const {code, storage} = decodeStoredAccount(leaf.value);
    if (storage?.tree.rootPage === 0) throw invalid(`the slots of account ${toHex(leaf.key)} are missing`);
    if (code === undefined) return;
    const hash = toHex(code.keccakCodeHash);
    const known = this.codes.get(hash);
    if (known === undefined) throw invalid(`the code ${hash} of account ${toHex(leaf.key)} is missing`);
    if (Buffer.compare(known.codeHash, code.codeHash) !== 0 || known.codeSize !== code.codeSize)
      throw invalid(
        `account ${toHex(leaf.key)} has code ${hash} of ${count(code.codeSize, "byte")} with hash ${toHex(code.codeHash)}, but the code has ${known.codeSize} bytes and hash ${toHex(known.codeHash)}`,
      );
  }
}

function invalid(what: string): StoreError {
  return new StoreError("BLOCK_INVALID", what);
}
