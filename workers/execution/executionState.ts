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
import {MerklePatriciaTrie} from "@ethereumjs/mpt";
import {RLP} from "@ethereumjs/rlp";
import {OriginalStorageCache} from "@ethereumjs/statemanager";
import {
  Account,
  type Address,
  createAccountFromRLP,
  KECCAK256_NULL,
  KECCAK256_RLP,
  unpadBytes,
  ValueEncoding,
} from "@ethereumjs/util";
import {keccak_256} from "@noble/hashes/sha3.js";
import {AccountDifferences} from "../../storage/accountDifferences.ts";
import {differAccount, type WrittenAccount} from "./accountDifference.ts";
import {ExecutionError} from "./errors.ts";
import {codeKey, type TrieNodes, TrieOverlay} from "./trieNodes.ts";

/** About 50 MB: accounts and slots of 200 to 250 bytes each. */
const MAX_CACHED_VALUES = 200_000;
const MAX_CACHED_CODE_BYTES = 32 << 20;

const NO_BYTES = new Uint8Array(0);

/** Bytes as a map key, one character each. */
type Key = string;
type Slots = Map<Key, Uint8Array>;

export class ExecutionState implements StateManagerInterface {
  readonly originalStorageCache = new OriginalStorageCache(this.getStorage.bind(this));

  private readonly nodes: TrieNodes;
  private readonly overlay: TrieOverlay;
  private readonly trie: MerklePatriciaTrie;
  /** The state's root before the block. */
  private baseRoot: Uint8Array = KECCAK256_RLP;

  private readonly baseAccounts = new Map<Key, Account | null>();
  private readonly baseSlots = new Map<Key, Slots>();
  private cachedValues = 0;
  private readonly codes = new Map<Key, Uint8Array>();
  private cachedCodeBytes = 0;

  /** null: deleted. */
  private readonly accounts = new Map<Key, Account | null>();
  private readonly slots = new Map<Key, Slots>();
  /** Accounts whose slots of the base are gone, by deletion or before a creation. */
  private readonly cleared = new Set<Key>();
  /** Accounts deleted at some point of the block. */
  private readonly destroyed = new Set<Key>();
  private readonly newCodes = new Map<Key, Uint8Array>();

  private undo: (() => void)[] = [];
  private readonly checkpoints: number[] = [];
  /** The root with everything written; undefined after a write. */
  private computed: {root: Uint8Array; storageRoots: Map<Key, Uint8Array>} | undefined;

  constructor(nodes: TrieNodes) {
    this.nodes = nodes;
    this.overlay = new TrieOverlay(nodes);
    this.trie = this.openTrie(KECCAK256_RLP);
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
    const codeHash = keccak_256(code);
    // Named by its hash, so a revert need not take it back; only codes that accounts end with are persisted.
    this.newCodes.set(toKey(codeHash), code);
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
    return this.cleared.has(key) ? NO_BYTES : this.readBaseSlot(key, slot);
  }

  async putStorage(address: Address, slot: Uint8Array, value: Uint8Array): Promise<void> {
    const key = toKey(address.bytes);
    if ((await this.readAccount(key)) === null)
      throw new Error("a slot was written to an account that does not exist");
    const slotKey = toKey(slot);
    const slots = this.slots.get(key) ?? new Map<Key, Uint8Array>();
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
        `the state with the trie root 0x${Buffer.from(root).toString("hex")} is not in this store`,
      );
    this.discard();
    this.clearCaches();
    this.baseRoot = root;
  }

  async hasStateRoot(root: Uint8Array): Promise<boolean> {
    const key = Buffer.from(root).toString("hex");
    return key === Buffer.from(KECCAK256_RLP).toString("hex") || this.nodes.get(key) !== undefined;
  }

  clearCaches(): void {
    this.baseAccounts.clear();
    this.baseSlots.clear();
    this.cachedValues = 0;
    this.codes.clear();
    this.cachedCodeBytes = 0;
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
    const written: [Key, WrittenAccount][] = [];
    for (const key of this.writtenKeys()) {
      const account = await this.describeWritten(key);
      const difference = await differAccount(fromKey(key), account, slot => this.readBaseSlot(key, slot));
      if (difference !== undefined) differences.add(difference);
      written.push([key, account]);
    }
    for (const storageRoot of storageRoots.values()) this.overlay.persist(storageRoot);
    this.overlay.persist(root);
    for (const [key, {after}] of written) {
      const code = after === null ? undefined : this.newCodes.get(toKey(after.codeHash));
      if (after !== null && code !== undefined && code.length > 0) {
        this.nodes.put(codeKey(after.codeHash), code);
        this.cacheCode(after.codeHash, code);
      }
      this.cacheWritten(key, after, storageRoots.get(key));
    }
    this.baseRoot = root;
    this.discard();
    if (this.cachedValues > MAX_CACHED_VALUES) {
      this.baseAccounts.clear();
      this.baseSlots.clear();
      this.cachedValues = 0;
    }
    return differences;
  }

  private writtenKeys(): Set<Key> {
    return new Set([...this.accounts.keys(), ...this.slots.keys()]);
  }

  private async describeWritten(key: Key): Promise<WrittenAccount> {
    const before = await this.readBaseAccount(key);
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

  private async computeRoot(): Promise<{root: Uint8Array; storageRoots: Map<Key, Uint8Array>}> {
    this.overlay.clear();
    this.trie.root(this.baseRoot);
    const storageRoots = new Map<Key, Uint8Array>();
    for (const key of this.writtenKeys()) {
      const after = await this.readAccount(key);
      if (after === null) {
        if ((await this.readBaseAccount(key)) !== null) await this.trie.del(fromKey(key));
        continue;
      }
      const storageRoot = await this.computeStorageRoot(key);
      storageRoots.set(key, storageRoot);
      await this.trie.put(
        fromKey(key),
        new Account(after.nonce, after.balance, storageRoot, after.codeHash).serialize(),
      );
    }
    return {root: this.trie.root(), storageRoots};
  }

  private async computeStorageRoot(key: Key): Promise<Uint8Array> {
    const base = this.cleared.has(key) ? null : await this.readBaseAccount(key);
    const root = base?.storageRoot ?? KECCAK256_RLP;
    const slots = this.slots.get(key);
    if (slots === undefined || slots.size === 0) return root;
    const trie = this.openTrie(root);
    for (const [slot, value] of slots) {
      if (value.length > 0) await trie.put(fromKey(slot), RLP.encode(value));
      else await trie.del(fromKey(slot));
    }
    return trie.root();
  }

  private openTrie(root: Uint8Array): MerklePatriciaTrie {
    return new MerklePatriciaTrie({
      db: this.overlay,
      valueEncoding: ValueEncoding.Bytes,
      useKeyHashing: true,
      root,
    });
  }

  private async readAccount(key: Key): Promise<Account | null> {
    const written = this.accounts.get(key);
    return written === undefined ? this.readBaseAccount(key) : written;
  }

  private async writeAccount(key: Key, account: Account | null): Promise<void> {
    const before = this.accounts.get(key);
    this.accounts.set(key, account);
    this.computed = undefined;
    this.undo.push(() => (before === undefined ? this.accounts.delete(key) : this.accounts.set(key, before)));
  }

  private async readBaseAccount(key: Key): Promise<Account | null> {
    const cached = this.baseAccounts.get(key);
    if (cached !== undefined) return cached;
    const trie = this.openTrie(this.baseRoot);
    const encoded = await trie.get(fromKey(key));
    const account = encoded === null ? null : createAccountFromRLP(encoded);
    this.baseAccounts.set(key, account);
    this.cachedValues++;
    return account;
  }

  private async readBaseSlot(key: Key, slot: Uint8Array): Promise<Uint8Array> {
    const slots = this.baseSlots.get(key) ?? new Map<Key, Uint8Array>();
    const slotKey = toKey(slot);
    const cached = slots.get(slotKey);
    if (cached !== undefined) return cached;
    const account = await this.readBaseAccount(key);
    if (account === null || sameBytes(account.storageRoot, KECCAK256_RLP)) return NO_BYTES;
    const encoded = await this.openTrie(account.storageRoot).get(slot);
    const value = encoded === null ? NO_BYTES : (RLP.decode(encoded) as Uint8Array);
    this.baseSlots.set(key, slots.set(slotKey, value));
    this.cachedValues++;
    return value;
  }

  private readCode(codeHash: Uint8Array): Uint8Array {
    if (sameBytes(codeHash, KECCAK256_NULL)) return NO_BYTES;
    const key = toKey(codeHash);
    const known = this.newCodes.get(key) ?? this.codes.get(key);
    if (known !== undefined) return known;
    const code = this.nodes.get(codeKey(codeHash));
    if (code === undefined)
      throw new ExecutionError(
        "STATE_MISSING",
        `code 0x${Buffer.from(codeHash).toString("hex")} is not in this store`,
      );
    this.cacheCode(codeHash, code);
    return code;
  }

  private cacheCode(codeHash: Uint8Array, code: Uint8Array): void {
    if (this.cachedCodeBytes + code.length > MAX_CACHED_CODE_BYTES) {
      this.codes.clear();
      this.cachedCodeBytes = 0;
    }
    this.codes.set(toKey(codeHash), code);
    this.cachedCodeBytes += code.length;
  }

  /** Carries what the block wrote into the cache of the next one's base. */
  private cacheWritten(key: Key, after: Account | null, storageRoot: Uint8Array | undefined): void {
    this.baseAccounts.set(
      key,
      after === null ? null : new Account(after.nonce, after.balance, storageRoot, after.codeHash),
    );
    this.cachedValues++;
    if (this.cleared.has(key)) this.baseSlots.delete(key);
    const written = this.slots.get(key);
    if (written === undefined) return;
    const slots = this.baseSlots.get(key) ?? new Map<Key, Uint8Array>();
    for (const [slot, value] of written) slots.set(slot, value);
    this.baseSlots.set(key, slots);
    this.cachedValues += written.size;
  }
}

function copyAccount(account: Account): Account {
  return new Account(account.nonce, account.balance, account.storageRoot, account.codeHash);
}

function toKey(bytes: Uint8Array): Key {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

function fromKey(key: Key): Uint8Array {
  return new Uint8Array(Buffer.from(key, "latin1"));
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
