/**
 * The state of one block as the library's EVM reads it.
 *
 * Everything that was read is cached, since it never changes: accounts and slots per block, codes for all blocks. A full
 * cache is dropped whole.
 */
import {Account, KECCAK256_NULL, KECCAK256_RLP} from "@ethereumjs/util";
import type {StateReader} from "../../../storage/block/stateReader.ts";
import type {TreeRoot} from "../../../storage/tree/treeRoot.ts";
import {type ByteKey, fromKey, sameBytes, toKey} from "../../execution/byteKey.ts";
import {NO_BYTES, type StateBase} from "../../execution/stateOverlay.ts";
import {HeldSource} from "../state/heldSource.ts";

/** About 30 MB: accounts and slots of 200 to 250 bytes each. */
const MAX_CACHED_VALUES = 120_000;
const MAX_CACHED_CODE_BYTES = 16 << 20;
/** Of an account that has slots. The EVM only asks whether the root is the one of an empty storage (EIP-7610). */
const SOME_STORAGE = new Uint8Array(32).fill(1);

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
      state = new HeldState(this, new HeldSource(this.store, accounts));
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
  /** undefined: there is no such account. */
  private readonly accounts = new Map<ByteKey, Account | undefined>();
  private readonly slots = new Map<ByteKey, Map<ByteKey, Uint8Array>>();

  constructor(
    private readonly kept: HeldStates,
    private readonly source: HeldSource,
  ) {}

  /** @throws StoreError RECORD_MISSING, RECORD_DAMAGED */
  readAccount(key: ByteKey): Account | undefined {
    const cached = this.accounts.get(key);
    if (cached !== undefined || this.accounts.has(key)) return cached;
    const read = this.source.readAccount(fromKey(key));
    const root = read?.hasStorage === true ? SOME_STORAGE : KECCAK256_RLP;
    const account = read && new Account(read.nonce, read.balance, root, read.codeHash);
    this.accounts.set(key, account);
    this.kept.countValue();
    return account;
  }

  readSlot(key: ByteKey, slot: Uint8Array): Uint8Array {
    let slots = this.slots.get(key);
    if (slots === undefined) {
      slots = new Map();
      this.slots.set(key, slots);
    }
    const slotKey = toKey(slot);
    const cached = slots.get(slotKey);
    if (cached !== undefined) return cached;
    this.readAccount(key);
    // The slot comes from the EVM's stack and has 32 bytes.
    const value = this.source.readSlot(fromKey(key), slot);
    slots.set(slotKey, value);
    this.kept.countValue();
    return value;
  }

  readCode(codeHash: Uint8Array): Uint8Array {
    return this.kept.readCode(codeHash);
  }
}
