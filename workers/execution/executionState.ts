/**
 * The state that a block executes on: what it has written so far, over the trie of its parent.
 *
 *   written    accounts, slots, dropped storage; with an undo log for reverts      this block
 *   base       accounts and slots as of the parent, read once                      a bounded cache
 *   trie       Merkle-Patricia, keys hashed                                        TrieNodes
 *
 * Why not @ethereumjs' MerkleStateManager: a difference needs the written keys with their values before and after,
 * its caches lose what a reverted clearStorage dropped, and it writes every intermediate node to disk.
 * The trie is touched once per block here (before byzantium once per transaction, for the receipt).
 */
import type {AccountFields, StateManagerInterface} from "@ethereumjs/common";
import type {MerklePatriciaTrie} from "@ethereumjs/mpt";
import {RLP} from "@ethereumjs/rlp";
import {OriginalStorageCache} from "@ethereumjs/statemanager";
import {Account, type Address, KECCAK256_RLP, unpadBytes} from "@ethereumjs/util";
import {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import {keccak256} from "../../storage/hash/keccak.ts";
import {toHex} from "../../storage/hex.ts";
import {differAccount, type WrittenAccount} from "./accountDifference.ts";
import {BaseState, type SealedAccount} from "./baseState.ts";
import {type ByteKey, fromKey, sameBytes, toKey} from "./byteKey.ts";
import {ExecutionError} from "./errors.ts";
import {codeKey, openTrie, type TrieNodes, TrieOverlay} from "./trieNodes.ts";

type Slots = Map<ByteKey, Uint8Array>;

interface ComputedRoot {
  readonly root: Uint8Array;
  /** Of every written account that exists. */
  readonly storageRoots: ReadonlyMap<ByteKey, Uint8Array>;
}

const NO_BYTES = new Uint8Array(0);
const NO_SLOTS: ReadonlyMap<ByteKey, Uint8Array> = new Map();

export class ExecutionState implements StateManagerInterface {
  readonly originalStorageCache = new OriginalStorageCache(this.getStorage.bind(this));

  private readonly nodes: TrieNodes;
  private readonly overlay: TrieOverlay;
  private readonly trie: MerklePatriciaTrie;
  private readonly base: BaseState;

  /** null: deleted. */
  private readonly accounts = new Map<ByteKey, Account | null>();
  private readonly slots = new Map<ByteKey, Slots>();
  /** Accounts whose slots of the base are gone, by deletion or before a creation. */
  private readonly cleared = new Set<ByteKey>();
  /** Accounts deleted at some point of the block. */
  private readonly destroyed = new Set<ByteKey>();
  private readonly newCodes = new Map<ByteKey, Uint8Array>();

  private undo: (() => void)[] = [];
  private readonly checkpoints: number[] = [];
  /** The root with everything written; undefined after a write. */
  private computed: ComputedRoot | undefined;

  constructor(nodes: TrieNodes) {
    this.nodes = nodes;
    this.overlay = new TrieOverlay(nodes);
    this.trie = openTrie(this.overlay, KECCAK256_RLP);
    this.base = new BaseState(nodes, this.overlay);
  }

  async getAccount(address: Address): Promise<Account | undefined> {
    const account = await this.readAccount(toKey(address.bytes));
    return account === null ? undefined : copyAccount(account);
  }

  async putAccount(address: Address, account?: Account): Promise<void> {
    if (account === undefined) return this.deleteAccount(address);
    await this.writeAccount(toKey(address.bytes), copyAccount(account));
  }

  async deleteAccount(address: Address): Promise<void> {
    const key = toKey(address.bytes);
    if ((await this.readAccount(key)) === null) return;
    await this.clearStorage(address);
    await this.writeAccount(key, null);
    if (this.destroyed.has(key)) return;
    this.destroyed.add(key);
    this.undo.push(() => this.destroyed.delete(key));
  }

  async modifyAccountFields(address: Address, fields: AccountFields): Promise<void> {
    const account = (await this.getAccount(address)) ?? new Account();
    if (fields.nonce !== undefined) account.nonce = fields.nonce;
    if (fields.balance !== undefined) account.balance = fields.balance;
    if (fields.codeHash !== undefined) account.codeHash = fields.codeHash;
    await this.putAccount(address, account);
  }

  async putCode(address: Address, code: Uint8Array): Promise<void> {
    const codeHash = keccak256(code);
    // Named by its hash, so a revert need not take it back; only codes that accounts end with are persisted.
    this.newCodes.set(toKey(codeHash), new Uint8Array(code));
    await this.modifyAccountFields(address, {codeHash});
  }

  async getCode(address: Address): Promise<Uint8Array> {
    const account = await this.readAccount(toKey(address.bytes));
    return account === null ? NO_BYTES : this.readCode(account.codeHash);
  }

  async getCodeSize(address: Address): Promise<number> {
    return (await this.getCode(address)).length;
  }

  /** The value without leading zeros. */
  async getStorage(address: Address, slot: Uint8Array): Promise<Uint8Array> {
    const key = toKey(address.bytes);
    const written = this.slots.get(key)?.get(toKey(slot));
    if (written !== undefined) return written;
    return this.cleared.has(key) ? NO_BYTES : this.base.readSlot(key, slot);
  }

  async putStorage(address: Address, slot: Uint8Array, value: Uint8Array): Promise<void> {
    const key = toKey(address.bytes);
    if ((await this.readAccount(key)) === null)
      throw new Error("a slot was written to an account that does not exist");
    const slotKey = toKey(slot);
    const slots = this.slots.get(key) ?? new Map<ByteKey, Uint8Array>();
    this.slots.set(key, slots);
    const before = slots.get(slotKey);
    slots.set(slotKey, unpadBytes(value));
    this.computed = undefined;
    this.undo.push(() => (before === undefined ? slots.delete(slotKey) : slots.set(slotKey, before)));
  }

  async clearStorage(address: Address): Promise<void> {
    const key = toKey(address.bytes);
    const slots = this.slots.get(key);
    const wasCleared = this.cleared.has(key);
    this.slots.delete(key);
    this.cleared.add(key);
    this.computed = undefined;
    this.undo.push(() => {
      if (slots === undefined) this.slots.delete(key);
      else this.slots.set(key, slots);
      if (!wasCleared) this.cleared.delete(key);
    });
  }

  async checkpoint(): Promise<void> {
    this.checkpoints.push(this.undo.length);
  }

  async commit(): Promise<void> {
    if (this.checkpoints.pop() === undefined) throw new Error("no checkpoint to commit");
  }

  async revert(): Promise<void> {
    const mark = this.checkpoints.pop();
    if (mark === undefined) throw new Error("no checkpoint to revert to");
    while (this.undo.length > mark) this.undo.pop()?.();
    this.computed = undefined;
  }

  /** With everything written so far. */
  async getStateRoot(): Promise<Uint8Array> {
    this.computed ??= await this.computeRoot();
    return this.computed.root;
  }

  /** Moves to the state of another block, dropping what was written. */
  async setStateRoot(root: Uint8Array): Promise<void> {
    if (!(await this.hasStateRoot(root)))
      throw new ExecutionError(
        "STATE_MISSING",
        `the state with the trie root ${toHex(root)} is not in this store`,
      );
    this.discard();
    this.base.moveTo(root);
  }

  async hasStateRoot(root: Uint8Array): Promise<boolean> {
    return sameBytes(root, KECCAK256_RLP) || this.nodes.get(Buffer.from(root).toString("hex")) !== undefined;
  }

  clearCaches(): void {
    this.base.clearCache();
  }

  /** Never asked for by block execution: the overlay and the undo log have one user. */
  shallowCopy(): StateManagerInterface {
    throw new Error("an execution state cannot be copied");
  }

  /** Drops everything written since the last `seal`. */
  discard(): void {
    this.accounts.clear();
    this.slots.clear();
    this.cleared.clear();
    this.destroyed.clear();
    this.newCodes.clear();
    this.undo = [];
    this.checkpoints.length = 0;
    this.computed = undefined;
    this.overlay.clear();
    this.originalStorageCache.clear();
  }

  /** Persists what was written and makes it the base of the next block. @returns how accounts changed */
  async seal(): Promise<AccountDifferences> {
    if (this.checkpoints.length > 0) throw new Error("a block was sealed inside a checkpoint");
    this.computed ??= await this.computeRoot();
    const {root, storageRoots} = this.computed;
    const differences = new AccountDifferences();
    const sealed: SealedAccount[] = [];
    for (const key of this.writtenKeys()) {
      const written = await this.describeWritten(key);
      const difference = await differAccount(fromKey(key), written, slot => this.base.readSlot(key, slot));
      if (difference !== undefined) differences.add(difference);
      if (
        written.after !== null &&
        written.code.length > 0 &&
        this.newCodes.has(toKey(written.after.codeHash))
      )
        this.nodes.put(codeKey(written.after.codeHash), written.code);
      sealed.push({
        key,
        account: written.after && withStorageRoot(written.after, storageRoots.get(key) ?? KECCAK256_RLP),
        isCleared: this.cleared.has(key),
        slots: this.slots.get(key) ?? NO_SLOTS,
      });
    }
    for (const storageRoot of storageRoots.values()) this.overlay.persist(storageRoot);
    this.overlay.persist(root);
    this.base.advance(root, sealed);
    this.discard();
    return differences;
  }

  private writtenKeys(): Set<ByteKey> {
    return new Set([...this.accounts.keys(), ...this.slots.keys(), ...this.cleared]);
  }

  private async describeWritten(key: ByteKey): Promise<WrittenAccount> {
    const before = await this.base.readAccount(key);
    const after = await this.readAccount(key);
    return {
      before,
      after,
      isReset:
        this.destroyed.has(key) ||
        (this.cleared.has(key) && before !== null && !sameBytes(before.storageRoot, KECCAK256_RLP)),
      slots: [...(this.slots.get(key) ?? [])].map(([slot, value]) => [fromKey(slot), value]),
      code: after === null ? NO_BYTES : this.readCode(after.codeHash),
    };
  }

  private async computeRoot(): Promise<ComputedRoot> {
    this.overlay.clear();
    this.trie.root(this.base.root);
    const storageRoots = new Map<ByteKey, Uint8Array>();
    for (const key of this.writtenKeys()) {
      const after = await this.readAccount(key);
      if (after === null) {
        if ((await this.base.readAccount(key)) !== null) await this.trie.del(fromKey(key));
        continue;
      }
      const storageRoot = await this.computeStorageRoot(key);
      storageRoots.set(key, storageRoot);
      await this.trie.put(fromKey(key), withStorageRoot(after, storageRoot).serialize());
    }
    return {root: this.trie.root(), storageRoots};
  }

  private async computeStorageRoot(key: ByteKey): Promise<Uint8Array> {
    const base = this.cleared.has(key) ? null : await this.base.readAccount(key);
    const root = base?.storageRoot ?? KECCAK256_RLP;
    const slots = this.slots.get(key);
    if (slots === undefined || slots.size === 0) return root;
    const trie = openTrie(this.overlay, root);
    for (const [slot, value] of slots) {
      if (value.length > 0) await trie.put(fromKey(slot), RLP.encode(value));
      else await trie.del(fromKey(slot));
    }
    return trie.root();
  }

  private async readAccount(key: ByteKey): Promise<Account | null> {
    const written = this.accounts.get(key);
    return written === undefined ? this.base.readAccount(key) : written;
  }

  private async writeAccount(key: ByteKey, account: Account | null): Promise<void> {
    const before = this.accounts.get(key);
    this.accounts.set(key, account);
    this.computed = undefined;
    this.undo.push(() => (before === undefined ? this.accounts.delete(key) : this.accounts.set(key, before)));
  }

  private readCode(codeHash: Uint8Array): Uint8Array {
    return this.newCodes.get(toKey(codeHash)) ?? this.base.readCode(codeHash);
  }
}

function copyAccount(account: Account): Account {
  return withStorageRoot(account, account.storageRoot);
}

function withStorageRoot({nonce, balance, codeHash}: Account, storageRoot: Uint8Array): Account {
  return new Account(nonce, balance, storageRoot, codeHash);
}
