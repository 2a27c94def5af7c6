/**
 * What execution has written, over a read-only state: accounts, slots, dropped storage, with an undo log.
 *
 *   written    accounts, slots, cleared storage, new codes     undone entry by entry on revert
 *   base       accounts, slots and codes as they were          StateSource, never written, read once
 *
 * It is the part of @ethereumjs' state manager that the EVM uses. State roots are left to subclasses that have a trie.
 */
import type {AccountFields} from "@ethereumjs/common";
import {Account, type Address, unpadBytes} from "@ethereumjs/util";
import {type ByteKey, toKey} from "../../../evm/execution/byteKey.ts";
import type {StateSource} from "../../../evm/interpreter/stateSource.ts";
import {KECCAK_EMPTY, keccak256} from "../../../storage/hash/keccak.ts";

export function fromKey(key: ByteKey): Uint8Array {
  return new Uint8Array(Buffer.from(key, "latin1"));
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

export const NO_BYTES = new Uint8Array(0);
/** Stands for any storage that is not empty. */
const SOME_ROOT = new Uint8Array(32).fill(1);

export class StateOverlay {
  /** What slots held when they were asked for first since `clear` (EIP-1283). */
  readonly originalStorageCache = {
    get: async (address: Address, slot: Uint8Array): Promise<Uint8Array> => {
      const name = toKey(address.bytes) + toKey(slot);
      const value = this.originals.get(name) ?? (await this.getStorage(address, slot));
      this.originals.set(name, value);
      return value;
    },
    clear: () => this.originals.clear(),
  };

  private readonly originals = new Map<ByteKey, Uint8Array>();
  /** undefined: deleted. */
  protected readonly accounts = new Map<ByteKey, Account | undefined>();
  protected readonly slots = new Map<ByteKey, Map<ByteKey, Uint8Array>>();
  /** Accounts that no longer have the slots of the base: they were deleted, or cleared before a creation. */
  protected readonly cleared = new Set<ByteKey>();
  /** Accounts deleted at some point. */
  protected readonly destroyed = new Set<ByteKey>();
  /** Written or read. */
  private readonly codes = new Map<ByteKey, Uint8Array>();
  /** Of the base, as far as they were read. */
  private readonly baseAccounts = new Map<ByteKey, Account | undefined>();
  private readonly baseSlots = new Map<ByteKey, Uint8Array>();
  /** Rises with every write and every revert. */
  protected changes = 0;

  private undo: (() => void)[] = [];
  private readonly checkpoints: number[] = [];

  constructor(private readonly base: Omit<StateSource, "readBlockHash">) {}

  protected get isInCheckpoint(): boolean {
    return this.checkpoints.length > 0;
  }

  async getAccount(address: Address): Promise<Account | undefined> {
    const account = this.readAccount(toKey(address.bytes));
    return account && copyAccount(account);
  }

  async putAccount(address: Address, account?: Account): Promise<void> {
    if (account === undefined) return this.deleteAccount(address);
    this.writeAccount(toKey(address.bytes), copyAccount(account));
  }

  async deleteAccount(address: Address): Promise<void> {
    const key = toKey(address.bytes);
    if (this.readAccount(key) === undefined) return;
    await this.clearStorage(address);
    this.writeAccount(key, undefined);
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
    // The key is its hash, so a revert need not remove it. Only codes that accounts have in the end are persisted.
    this.codes.set(toKey(codeHash), new Uint8Array(code));
    await this.modifyAccountFields(address, {codeHash});
  }

  async getCode(address: Address): Promise<Uint8Array> {
    const account = this.readAccount(toKey(address.bytes));
    return account === undefined ? NO_BYTES : this.readCode(account.codeHash);
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
    if (this.readAccount(key) === undefined)
      throw new Error("a slot was written to an account that does not exist");
    const slotKey = toKey(slot);
    const slots = this.slots.get(key) ?? new Map<ByteKey, Uint8Array>();
    this.slots.set(key, slots);
    const before = slots.get(slotKey);
    slots.set(slotKey, unpadBytes(value));
    this.changes++;
    this.undo.push(() => (before === undefined ? slots.delete(slotKey) : slots.set(slotKey, before)));
  }

  async clearStorage(address: Address): Promise<void> {
    const key = toKey(address.bytes);
    const slots = this.slots.get(key);
    const wasCleared = this.cleared.has(key);
    this.slots.delete(key);
    this.cleared.add(key);
    this.changes++;
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
    this.changes++;
  }

  /** Drops everything written, and what was read. */
  discard(): void {
    this.accounts.clear();
    this.slots.clear();
    this.cleared.clear();
    this.destroyed.clear();
    this.codes.clear();
    this.baseAccounts.clear();
    this.baseSlots.clear();
    this.undo = [];
    this.checkpoints.length = 0;
    this.changes++;
    this.originalStorageCache.clear();
  }

  protected readAccount(key: ByteKey): Account | undefined {
    return this.accounts.has(key) ? this.accounts.get(key) : this.readBaseAccount(key);
  }

  /** The caller must not change the result. */
  protected readBaseAccount(key: ByteKey): Account | undefined {
    if (this.baseAccounts.has(key)) return this.baseAccounts.get(key);
    const held = this.base.readAccount(fromKey(key));
    const root = held?.hasStorage === true ? SOME_ROOT : undefined;
    const account = held && new Account(held.nonce, held.balance, root, held.codeHash);
    this.baseAccounts.set(key, account);
    return account;
  }

  /** Without leading zeros. */
  protected readBaseSlot(key: ByteKey, slot: Uint8Array): Uint8Array {
    const name = key + toKey(slot);
    const value = this.baseSlots.get(name) ?? unpadBytes(this.base.readSlot(fromKey(key), slot));
    this.baseSlots.set(name, value);
    return value;
  }

  protected readCode(codeHash: Uint8Array): Uint8Array {
    if (sameBytes(codeHash, KECCAK_EMPTY)) return NO_BYTES;
    const key = toKey(codeHash);
    // LevelDB hands out Buffers, whose slice is a view; the EVM expects copies.
    const code = this.codes.get(key) ?? new Uint8Array(this.base.readCode(codeHash));
    this.codes.set(key, code);
    return code;
  }

  private writeAccount(key: ByteKey, account: Account | undefined): void {
    const before = this.accounts.get(key);
    const wasWritten = this.accounts.has(key);
    this.accounts.set(key, account);
    this.changes++;
    this.undo.push(() => (wasWritten ? this.accounts.set(key, before) : this.accounts.delete(key)));
  }
}

function copyAccount({nonce, balance, storageRoot, codeHash}: Account): Account {
  return new Account(nonce, balance, storageRoot, codeHash);
}
