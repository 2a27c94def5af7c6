/**
 * The state of one block as the EVM reads it: accounts, slots and code, by point reads of the store's trees.
 *
 * Everything that was read is cached, since it never changes: accounts and slots per block, codes for all blocks. A full
 * cache is dropped whole.
 */
import {Account, bytesToBigInt, KECCAK256_NULL, KECCAK256_RLP} from "@ethereumjs/util";
import type {StateReader} from "../../../storage/block/stateReader.ts";
import {decodeStoredAccount} from "../../../storage/tree/account.ts";
import type {Tree} from "../../../storage/tree/tree.ts";
import {accountTree, storageTree} from "../../../storage/tree/tree.ts";
import type {TreeRoot} from "../../../storage/tree/treeRoot.ts";
import {type ByteKey, fromKey, sameBytes, toKey} from "../../execution/byteKey.ts";
import {NO_BYTES, type StateBase} from "../../execution/stateOverlay.ts";

/** About 30 MB: accounts and slots of 200 to 250 bytes each. */
const MAX_CACHED_VALUES = 120_000;
const MAX_CACHED_CODE_BYTES = 16 << 20;

interface HeldAccount {
  /** undefined: there is no such account. */
  readonly account: Account | undefined;
  /** undefined: the account never had a slot. */
  readonly slots: Tree | undefined;
}

/** The states of the blocks that a worker reads, with their caches. */
export class HeldStates {
  /** By the root page of the account tree. Its number is never given to another state. */
  private readonly states = new Map<number, HeldState>();
  private readonly codes = new Map<ByteKey, Uint8Array>();
  private cachedCodeBytes = 0;
  private cachedValues = 0;

  constructor(private readonly store: StateReader) {}

  /** @param accounts - the account tree of a block record */
  at(accounts: TreeRoot): HeldState {
    if (this.cachedValues > MAX_CACHED_VALUES) {
      this.states.clear();
      this.cachedValues = 0;
    }
    let state = this.states.get(accounts.rootPage);
    if (state === undefined) {
      state = new HeldState(this, this.store, accounts);
      this.states.set(accounts.rootPage, state);
      this.cachedValues++;
    }
    return state;
  }

  countValue(): void {
    this.cachedValues++;
  }

  /** @returns the same object for the same code, while it is cached. @throws StoreError RECORD_MISSING */
  readCode(codeHash: Uint8Array): Uint8Array {
    if (sameBytes(codeHash, KECCAK256_NULL)) return NO_BYTES;
    const key = toKey(codeHash);
    const cached = this.codes.get(key);
    if (cached !== undefined) return cached;
    // LevelDB hands out Buffers, whose slice is a view; the EVM expects copies.
    const code = new Uint8Array(this.store.readCode(codeHash));
    if (this.cachedCodeBytes + code.length > MAX_CACHED_CODE_BYTES) {
      this.codes.clear();
      this.cachedCodeBytes = 0;
    }
    this.codes.set(key, code);
    this.cachedCodeBytes += code.length;
    return code;
  }
}

export class HeldState implements StateBase {
  private readonly tree: Tree;
  private readonly accounts = new Map<ByteKey, HeldAccount>();
  private readonly slots = new Map<ByteKey, Map<ByteKey, Uint8Array>>();

  constructor(
    private readonly kept: HeldStates,
    private readonly store: StateReader,
    accounts: TreeRoot,
  ) {
    this.tree = accountTree(store, accounts);
  }

  /** @throws StoreError RECORD_MISSING, RECORD_DAMAGED */
  readAccount(key: ByteKey): Account | undefined {
    return this.readHeld(key).account;
  }

  readSlot(key: ByteKey, slot: Uint8Array): Uint8Array {
    const {slots: tree} = this.readHeld(key);
    if (tree === undefined) return NO_BYTES;
    let slots = this.slots.get(key);
    if (slots === undefined) {
      slots = new Map();
      this.slots.set(key, slots);
    }
    const slotKey = toKey(slot);
    const cached = slots.get(slotKey);
    if (cached !== undefined) return cached;
    // The slot comes from the EVM's stack and has 32 bytes. The value is copied, since pages are views of LevelDB's memory.
    const leaf = tree.read(this.store.suite.hashSlot(slot));
    const value = leaf === undefined ? NO_BYTES : new Uint8Array(leaf.value);
    slots.set(slotKey, value);
    this.kept.countValue();
    return value;
  }

  readCode(codeHash: Uint8Array): Uint8Array {
    return this.kept.readCode(codeHash);
  }

  private readHeld(key: ByteKey): HeldAccount {
    const cached = this.accounts.get(key);
    if (cached !== undefined) return cached;
    const held = this.loadAccount(key);
    this.accounts.set(key, held);
    this.kept.countValue();
    return held;
  }

  private loadAccount(key: ByteKey): HeldAccount {
    const hKey = this.store.suite.hashAddress(fromKey(key));
    const leaf = this.tree.read(hKey);
    if (leaf === undefined) return {account: undefined, slots: undefined};
    const {nonce, balance, code, storage} = decodeStoredAccount(leaf.value);
    const slots = storage === undefined ? undefined : storageTree(this.store, storage.tree, hKey);
    // The EVM only asks whether the storage root is the one of an empty storage (EIP-7610).
    const root =
      slots === undefined || slots.isEmpty ? KECCAK256_RLP : new Uint8Array(storage?.storageRoot ?? []);
    const codeHash = code === undefined ? KECCAK256_NULL : new Uint8Array(code.keccakCodeHash);
    const account = new Account(bytesToBigInt(nonce), bytesToBigInt(balance), root, codeHash);
    return {account, slots};
  }
}
