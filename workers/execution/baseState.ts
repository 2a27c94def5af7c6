/**
 * The state at the start of the block that is executed: a trie root, read through a bounded cache.
 */
import {RLP} from "@ethereumjs/rlp";
import {type Account, createAccountFromRLP, KECCAK256_NULL, KECCAK256_RLP} from "@ethereumjs/util";
import {toHex} from "../../storage/hex.ts";
import {type ByteKey, fromKey, sameBytes, toKey} from "./byteKey.ts";
import {ExecutionError} from "./errors.ts";
import {NO_BYTES, type StateBase} from "./stateOverlay.ts";
import {codeKey, type TrieNodes, type TrieOverlay} from "./trieNodes.ts";
import {pathOf} from "./trieShape.ts";

export interface SealedAccount {
  readonly key: ByteKey;
  /** With its new storageRoot; undefined: there is no account. */
  readonly account: Account | undefined;
  /** All slots that it had before the block are gone. */
  readonly isCleared: boolean;
  readonly slots: ReadonlyMap<ByteKey, Uint8Array>;
}

/** About 50 MB: accounts and slots of 200 to 250 bytes each; a value that changes counts again. */
const MAX_CACHED_VALUES = 200_000;
const MAX_CACHED_CODE_BYTES = 32 << 20;

export class BaseState implements StateBase {
  private current: Uint8Array = KECCAK256_RLP;
  /** undefined: there is no such account. */
  private readonly accounts = new Map<ByteKey, Account | undefined>();
  private readonly slots = new Map<ByteKey, Map<ByteKey, Uint8Array>>();
  private cachedValues = 0;
  private readonly codes = new Map<ByteKey, Uint8Array>();
  private cachedCodeBytes = 0;

  constructor(
    private readonly nodes: TrieNodes,
    private readonly overlay: TrieOverlay,
  ) {}

  /** Of the state trie. */
  get root(): Uint8Array {
    return this.current;
  }

  moveTo(root: Uint8Array): void {
    this.clearCache();
    this.current = root;
  }

  /** Moves on by a block that was executed on this state. */
  advance(root: Uint8Array, sealed: readonly SealedAccount[]): void {
    this.current = root;
    for (const {key, account, isCleared, slots} of sealed) {
      this.accounts.set(key, account);
      if (isCleared) this.slots.delete(key);
      const known = this.slots.get(key) ?? new Map<ByteKey, Uint8Array>();
      for (const [slot, value] of slots) known.set(slot, value);
      if (known.size > 0) this.slots.set(key, known);
      this.cachedValues += 1 + slots.size;
    }
    if (this.cachedValues > MAX_CACHED_VALUES) this.clearCache();
  }

  clearCache(): void {
    this.accounts.clear();
    this.slots.clear();
    this.cachedValues = 0;
  }

  /** The caller must not change the result. */
  readAccount(key: ByteKey): Account | undefined {
    const cached = this.accounts.get(key);
    if (cached !== undefined || this.accounts.has(key)) return cached;
    const encoded = this.overlay.find(this.current, pathOf(fromKey(key)));
    const account = encoded && createAccountFromRLP(encoded);
    this.accounts.set(key, account);
    this.cachedValues++;
    return account;
  }

  /** Without leading zeros. */
  readSlot(key: ByteKey, slot: Uint8Array): Uint8Array {
    const slots = this.slots.get(key) ?? new Map<ByteKey, Uint8Array>();
    const slotKey = toKey(slot);
    const cached = slots.get(slotKey);
    if (cached !== undefined) return cached;
    const account = this.readAccount(key);
    if (account === undefined || sameBytes(account.storageRoot, KECCAK256_RLP)) return NO_BYTES;
    const encoded = this.overlay.find(account.storageRoot, pathOf(slot));
    const value = encoded === undefined ? NO_BYTES : new Uint8Array(RLP.decode(encoded) as Uint8Array);
    this.slots.set(key, slots.set(slotKey, value));
    this.cachedValues++;
    return value;
  }

  readCode(codeHash: Uint8Array): Uint8Array {
    if (sameBytes(codeHash, KECCAK256_NULL)) return NO_BYTES;
    const cached = this.codes.get(toKey(codeHash));
    if (cached !== undefined) return cached;
    const stored = this.nodes.get(codeKey(codeHash));
    if (stored === undefined)
      throw new ExecutionError("STATE_MISSING", `code ${toHex(codeHash)} is not in this store`);
    // LevelDB hands out Buffers, whose slice is a view; the EVM expects copies.
    const code = new Uint8Array(stored);
    if (this.cachedCodeBytes + code.length > MAX_CACHED_CODE_BYTES) {
      this.codes.clear();
      this.cachedCodeBytes = 0;
    }
    this.codes.set(toKey(codeHash), code);
    this.cachedCodeBytes += code.length;
    return code;
  }
}
