/**
 * As stateBuilder.ts, for a store without sparse trees: from accounts and slots in the order of their paths.
 *
 *   addSlot ... -> endSlots      of an account with storage
 *   addAccount
 *   finish
 *
 * Leaves are added in batches. A batch rewrites only those pages of the batch before that are on the path to its last
 * leaf: one page in 200 is written twice.
 */
import {count} from "../count.ts";
import {StoreError} from "../errors.ts";
import {toHex} from "../hex.ts";
import {NO_TREE} from "../tree/treeRoot.ts";
import {EMPTY_TRIE, type TrieKind, type TrieRoot, type TrieWrite, TrieWriter} from "../trie/trie.ts";
import {encodeTrieAccount, type TrieAccount} from "../trie/trieAccount.ts";
import {type BuiltBlock, requireFirst, writeFirstBlock} from "./firstBlock.ts";
import {WriteBatch, type WriteTarget} from "./writeBatch.ts";

const LEAVES_AT_ONCE = 4096;

export class TrieBuilder {
  private readonly batch: WriteBatch;
  private readonly writer: TrieWriter;
  private readonly accounts: GrowingTrie;
  private slots: GrowingTrie;

  private constructor(
    target: WriteTarget,
    nextPage: number,
    private readonly block: BuiltBlock,
  ) {
    this.batch = new WriteBatch(target, nextPage);
    this.writer = new TrieWriter({
      read: page => this.batch.read(page),
      findNode: hash => this.batch.findNode(hash),
      putNode: (hash, node) => this.batch.putNode(hash, node),
      // Without `before`, so never as a difference: an old version of a page is never read again.
      putPage: encode => this.batch.putPage(encode),
    });
    this.accounts = new GrowingTrie(this.writer, "accounts");
    this.slots = new GrowingTrie(this.writer, "slots");
  }

  /** @throws StoreError BLOCK_CONFLICT if the store has blocks, BLOCK_INVALID */
  static async create(target: WriteTarget, block: BuiltBlock): Promise<TrieBuilder> {
    await requireFirst(target, block);
    return new TrieBuilder(target, await target.reader.nextPage(), block);
  }

  get accountCount(): number {
    return this.accounts.count;
  }

  /** @param path - 32 bytes, above the last one. @param value - RLP */
  addSlot(path: Uint8Array, value: Uint8Array): void {
    this.slots.add(path, value);
  }

  /** @returns the trie of the slots that were added since the last call */
  endSlots(): TrieRoot {
    const {slots} = this;
    if (slots.count === 0) return EMPTY_TRIE;
    this.slots = new GrowingTrie(this.writer, "slots");
    return slots.end();
  }

  /** @param path - 32 bytes, above the last one */
  addAccount(path: Uint8Array, account: TrieAccount): void {
    this.accounts.add(path, encodeTrieAccount(account));
  }

  addCode(hash: Uint8Array, code: Uint8Array): void {
    this.batch.putCode(hash, code);
  }

  flushIfFull(): Promise<void> {
    return this.batch.flushIfFull();
  }

  /** Writes the block, which is finalized. @throws StoreError STATE_ROOT_MISMATCH, WRITE_FAILED */
  async finish(): Promise<void> {
    const {stateRoot, header} = this.block;
    const {count: accounts} = this.accounts;
    const trie = this.accounts.end();
    if (Buffer.compare(trie.root, stateRoot) !== 0)
      throw new StoreError(
        "STATE_ROOT_MISMATCH",
        `block ${header.number}: expected state root ${toHex(stateRoot)} as in its header, got ${toHex(trie.root)} from ${count(accounts, "account")}`,
      );
    await writeFirstBlock(this.batch, this.block, {accounts: NO_TREE, trie: {...trie, isExecuted: false}});
  }
}

/** A trie whose leaves come in the order of their paths. */
class GrowingTrie {
  count = 0;
  private trie = EMPTY_TRIE;
  private writes: TrieWrite[] = [];

  constructor(
    private readonly writer: TrieWriter,
    private readonly kind: TrieKind,
  ) {}

  add(path: Uint8Array, value: Uint8Array): void {
    this.count++;
    if (this.writes.push({path, value}) === LEAVES_AT_ONCE) this.end();
  }

  end(): TrieRoot {
    this.trie = this.writer.update(this.trie, this.writes, this.kind);
    this.writes = [];
    return this.trie;
  }
}
