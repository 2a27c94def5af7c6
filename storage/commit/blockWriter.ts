/**
 * Writing blocks: checks that a block follows, applies its changes to the trees, and puts its record last.
 *
 * One writer at a time. Blocks become durable, and visible, with `flush`; a refused block leaves nothing behind.
 */

import type {AccountChange, SlotDifference} from "../block/accountDifference.ts";
import type {BlockDifference, BlockHeader, ChainConfig} from "../block/blockDifference.ts";
import {bigEndian, encodeBlockRecord, MAX_EXTRA_DATA_BYTES} from "../block/blockRecord.ts";
import {encodeChain} from "../block/format.ts";
import {StoreError} from "../errors.ts";
import {sameHKey, sortByHKey} from "../hash/hKeyOrder.ts";
import {keccak256} from "../hash/keccak.ts";
import {PairBatch} from "../hash/pairBatch.ts";
import {ACCOUNT_VALUE_BYTES, WORD_BYTES} from "../hash/suite.ts";
import {toHex} from "../hex.ts";
import {writeNote} from "../leveldb/acknowledgedNote.ts";
import {LogTail} from "../leveldb/logTail.ts";
import {blockKey, codeKey, executionNodeKey, hashKey, MAX_U48, META} from "../record/layout.ts";
import type {StateStore} from "../stateStore.ts";
import {
  type AccountCode,
  type AccountStorage,
  decodeStoredAccount,
  encodeAccountValueInto,
  encodeStoredAccount,
  NEW_ACCOUNT,
  stripZeros,
} from "../tree/account.ts";
import {newTreeRoot, type TreeRoot} from "../tree/treeRoot.ts";
import {type TreeContext, TreeWriter} from "./treeWriter.ts";
import {WriteBatch} from "./writeBatch.ts";

/** The newest block, also one that is not flushed. */
interface Tip {
  readonly number: number;
  readonly hash: Uint8Array;
  readonly accounts: TreeRoot;
}

export class BlockWriter {
  private readonly store: StateStore;
  private readonly batch: WriteBatch;
  private readonly tail: LogTail;
  private readonly context: TreeContext;
  private tip: Tip | undefined;
  private finalized: number;
  private knownChain: ChainConfig | undefined;
  private readonly value = new Uint8Array(ACCOUNT_VALUE_BYTES);
  /** Changed accounts and slots since the writer was made. */
  accounts = 0;
  slots = 0;

  private constructor(store: StateStore, nextPage: number, tip: Tip | undefined) {
    this.store = store;
    this.tail = new LogTail(store.directory);
    this.batch = new WriteBatch(store.db, store.pages, this.tail, nextPage);
    this.context = {
      suite: store.suite,
      empty: store.empty,
      batch: this.batch,
      pairs: new PairBatch(store.suite),
    };
    this.tip = tip;
    this.finalized = store.readFinalized() ?? -1;
  }

  static async create(store: StateStore): Promise<BlockWriter> {
    const latest = await store.latest();
    let tip: Tip | undefined;
    if (latest !== undefined) {
      const {header, accounts} = store.blockOrThrow(latest);
      tip = {number: latest, hash: header.hash, accounts};
    }
    return new BlockWriter(store, await store.nextPage(), tip);
  }

  /** The newest block applied, flushed or not. */
  get latest(): number | undefined {
    return this.tip?.number;
  }

  /** Is there anything that a flush would write? */
  get hasPending(): boolean {
    return this.batch.hasPending;
  }

  /** What block 0 says of the chain, flushed or not; undefined before it. */
  get chain(): ChainConfig | undefined {
    this.knownChain ??= this.store.readChain();
    return this.knownChain;
  }

  /** Enough is gathered for a batch: time to flush. */
  get isFull(): boolean {
    return this.batch.isFull;
  }

  /** Bytes given to LevelDB so far. */
  get bytesWritten(): number {
    return this.batch.bytesWritten;
  }

  /**
   * Is this block held already?
   *
   * @throws StoreError BLOCK_CONFLICT if another block is held under its number, BLOCK_GAP if it does not follow the newest
   */
  isHeld({number, hash}: {readonly number: number; readonly hash: Uint8Array}): boolean {
    const expected = this.tip === undefined ? 0 : this.tip.number + 1;
    if (number === expected) return false;
    if (number > expected)
      throw new StoreError("BLOCK_GAP", `block ${number} does not follow: the next block is ${expected}`);
    const held = this.blockHash(number);
    if (held === undefined)
      throw new StoreError("RECORD_MISSING", `record of block ${number} is not in the store`);
    if (Buffer.compare(held, hash) !== 0)
      throw new StoreError(
        "BLOCK_CONFLICT",
        `block ${number} has hash ${toHex(hash)}, but ${toHex(held)} is held`,
      );
    return true;
  }

  /**
   * Applies the next block. On failure nothing of it is kept; blocks applied before stay, to be flushed.
   *
   * @throws StoreError BLOCK_GAP, BLOCK_CONFLICT, PARENT_MISMATCH, STATE_ROOT_MISMATCH, BLOCK_INVALID, FORMAT_MISMATCH,
   *   TREE_FULL, WRITE_FAILED, and those of reading
   */
  async apply(block: BlockDifference): Promise<void> {
    const {header} = block;
    this.checkHeader(header);
    const mark = this.batch.mark();
    const writtenBefore = this.batch.bytesWritten;
    try {
      const accounts = await this.applyAccounts(block);
      const stateRoot = accounts.topRoot();
      if (block.expectedStateRoot !== undefined && Buffer.compare(block.expectedStateRoot, stateRoot) !== 0)
        throw new StoreError(
          "STATE_ROOT_MISMATCH",
          `block ${header.number}: its changes give state root ${toHex(stateRoot)}, expected ${toHex(block.expectedStateRoot)}`,
        );
      this.putBlock(block, accounts.seal(), stateRoot);
    } catch (error) {
      // A flush within the block emptied the batch: what is there now is all of this block.
      this.batch.dropSince(this.batch.bytesWritten === writtenBefore ? mark : 0);
      throw error;
    }
  }

  /** Blocks up to `block` are finalized on layer 1, also those that come later. A lower number changes nothing. */
  markFinalized(block: number): void {
    if (block <= this.finalized) return;
    this.finalized = Math.min(block, MAX_U48);
    this.batch.put(META.finalized, bigEndian(BigInt(this.finalized), 6));
  }

  /**
   * Marks blocks up to a block that is held, flushed or not.
   *
   * @throws StoreError BLOCK_UNKNOWN for a block that is not here yet: an operator's mistake, where a source's is foresight
   */
  finalizeHeld(block: number): void {
    const {latest} = this;
    if (latest === undefined || block > latest) {
      const newest = latest === undefined ? "the store holds no block" : `the newest block held is ${latest}`;
      throw new StoreError("BLOCK_UNKNOWN", `block ${block} is not held: ${newest}`);
    }
    this.markFinalized(block);
  }

  /** Keeps a node of the execution trie with the block at hand. */
  putExecutionNode(name: string, value: Uint8Array): void {
    this.batch.put(executionNodeKey(name), value);
  }

  /** Also one that is not flushed. */
  readExecutionNode(name: string): Uint8Array | undefined {
    return this.batch.pendingRecord(executionNodeKey(name)) ?? this.store.readExecutionNode(name);
  }

  /** The hash of a block held, also of one that is not flushed. */
  blockHash(block: number): Uint8Array | undefined {
    if (block === this.tip?.number) return this.tip.hash;
    const body = this.batch.pendingRecord(blockKey(block));
    return body === undefined ? this.store.readBlock(block)?.header.hash : body.subarray(0, WORD_BYTES);
  }

  /** Makes all that was applied durable and visible. @throws StoreError WRITE_FAILED */
  async flush(): Promise<void> {
    if (!this.batch.hasPending) return;
    const block = this.tip?.number;
    await this.batch.flush();
    const {number: log, bytes} = this.tail;
    if (block !== undefined) writeNote(this.store.directory, {block, log, bytes}, false);
  }

  private checkHeader(header: BlockHeader): void {
    const {number, hash, parentHash, miner, mixHash, extraData} = header;
    for (const [field, bytes, length] of [
      ["hash", hash, WORD_BYTES],
      ["parentHash", parentHash, WORD_BYTES],
      ["miner", miner, 20],
      ["mixHash", mixHash, WORD_BYTES],
    ] as const)
      if (bytes !== undefined && bytes.length !== length)
        throw new StoreError(
          "BLOCK_INVALID",
          `block ${number}: ${field} has ${bytes.length} bytes, not ${length}`,
        );
    if (this.isHeld(header)) throw new StoreError("BLOCK_CONFLICT", `block ${number} is held already`);
    if (extraData !== undefined && extraData.length > MAX_EXTRA_DATA_BYTES)
      throw new StoreError(
        "BLOCK_INVALID",
        `block ${number}: extraData of ${extraData.length} bytes, at most ${MAX_EXTRA_DATA_BYTES}`,
      );
    const sameHash = this.batch.pendingRecord(hashKey(hash))?.readUIntBE(0, 6) ?? this.store.findBlock(hash);
    if (sameHash !== undefined)
      throw new StoreError(
        "BLOCK_INVALID",
        `block ${number} has the hash of block ${sameHash}: ${toHex(hash)}`,
      );
    if (this.tip !== undefined && parentHash !== undefined && Buffer.compare(parentHash, this.tip.hash) !== 0)
      throw new StoreError(
        "PARENT_MISMATCH",
        `block ${number} (${toHex(hash)}) has parent ${toHex(parentHash)}, but block ${this.tip.number} is ${toHex(this.tip.hash)}`,
      );
  }

  private putBlock(block: BlockDifference, accounts: TreeRoot, stateRoot: Uint8Array): void {
    const {header} = block;
    if (header.number === 0) {
      this.knownChain = block.chain ?? {};
      this.batch.put(META.chain, encodeChain(this.knownChain));
    }
    this.batch.put(hashKey(header.hash), bigEndian(BigInt(header.number), 6));
    this.batch.put(
      blockKey(header.number),
      encodeBlockRecord({header, stateRoot, accounts, nextPage: this.batch.pageCounter}),
    );
    this.tip = {number: header.number, hash: header.hash, accounts};
  }

  private async applyAccounts({header, accounts}: BlockDifference): Promise<TreeWriter> {
    const {suite, empty} = this.context;
    const tree = new TreeWriter(this.context, this.tip?.accounts ?? newTreeRoot(empty));
    const hKeys = Buffer.allocUnsafe(accounts.count * WORD_BYTES);
    for (let i = 0; i < accounts.count; i++)
      hKeys.set(suite.hashAddress(accounts.addressAt(i)), i * WORD_BYTES);
    let before = -1;
    for (const position of sortByHKey(hKeys)) {
      const {address, change} = accounts.at(position);
      if (before >= 0 && sameHKey(hKeys, before, position))
        throw new StoreError("BLOCK_INVALID", `block ${header.number}: account ${toHex(address)} twice`);
      before = position;
      const hKey = hKeys.subarray(position * WORD_BYTES, (position + 1) * WORD_BYTES);
      await this.applyAccount(tree, hKey, change, `block ${header.number}: account ${toHex(address)}`);
      if (tree.needsSeal) tree.seal();
      if (this.batch.isFull) await this.batch.flush();
    }
    tree.seal();
    return tree;
  }

  private async applyAccount(
    tree: TreeWriter,
    hKey: Uint8Array,
    change: AccountChange | null,
    where: string,
  ): Promise<void> {
    const {suite, empty} = this.context;
    let position = tree.find(hKey);
    if (position.present && (change === null || change.reset === true)) {
      this.accounts++;
      tree.delete(position.leafIndex);
      position = tree.find(hKey);
    }
    if (change === null) return;
    const leaf = position.present ? tree.leaf(position.leafIndex) : undefined;
    const old = leaf === undefined ? NEW_ACCOUNT : decodeStoredAccount(leaf.value);
    const account = {
      nonce: change.nonce === undefined ? old.nonce : stripZeros(bigEndian(change.nonce, 8)),
      balance: change.balance === undefined ? old.balance : stripZeros(bigEndian(change.balance, WORD_BYTES)),
      code: change.code === undefined ? old.code : this.putCode(change.code),
      storage: await this.applySlots(old.storage, change.storage ?? [], where),
    };
    encodeAccountValueInto(this.value, 0, account, empty);
    const hVal = suite.hashAccountValue(this.value);
    if (!position.present) tree.insert(position, hKey, hVal, encodeStoredAccount(account));
    else if (Buffer.compare(hVal, (leaf as {hVal: Uint8Array}).hVal) !== 0)
      tree.update(position.leafIndex, hVal, encodeStoredAccount(account));
    else return;
    this.accounts++;
  }

  /** @returns the account's storage with `slots` written; undefined if it never had any */
  private async applySlots(
    old: AccountStorage | undefined,
    slots: readonly SlotDifference[],
    where: string,
  ): Promise<AccountStorage | undefined> {
    if (slots.length === 0) return old;
    const {suite, empty} = this.context;
    const tree = new TreeWriter(this.context, old?.tree ?? newTreeRoot(empty));
    const hKeys = Buffer.allocUnsafe(slots.length * WORD_BYTES);
    for (const [i, {slot}] of slots.entries()) hKeys.set(suite.hashSlot(slot), i * WORD_BYTES);
    let before = -1;
    for (const position of sortByHKey(hKeys)) {
      const {slot, value} = slots[position] as SlotDifference;
      if (before >= 0 && sameHKey(hKeys, before, position))
        throw new StoreError("BLOCK_INVALID", `${where}: slot ${toHex(slot)} twice`);
      before = position;
      this.applySlot(tree, hKeys.subarray(position * WORD_BYTES, (position + 1) * WORD_BYTES), value);
      if (tree.needsSeal) tree.seal();
      if (this.batch.isFull) await this.batch.flush();
    }
    const root = tree.seal();
    return root.rootPage === 0 ? undefined : {storageRoot: tree.topRoot(), tree: root};
  }

  private applySlot(tree: TreeWriter, hKey: Uint8Array, value: Uint8Array): void {
    const position = tree.find(hKey);
    const stored = stripZeros(value);
    if (stored.length === 0) {
      if (!position.present) return;
      tree.delete(position.leafIndex);
    } else {
      const hVal = this.context.suite.hashSlotValue(value);
      if (!position.present) tree.insert(position, hKey, hVal, stored);
      else if (Buffer.compare(hVal, tree.leaf(position.leafIndex).hVal) !== 0)
        tree.update(position.leafIndex, hVal, stored);
      else return;
    }
    this.slots++;
  }

  /** @returns undefined for no code */
  private putCode(code: Uint8Array): AccountCode | undefined {
    if (code.length === 0) return undefined;
    const keccakCodeHash = keccak256(code);
    const key = codeKey(keccakCodeHash);
    if (this.batch.pendingRecord(key) === undefined && !this.store.hasCode(keccakCodeHash))
      this.batch.put(key, code);
    return {codeHash: this.context.suite.hashCode(code), keccakCodeHash, codeSize: code.length};
  }
}
