/**
 * The state at the start of the block that is executed, read from its trie once.
 */
import {Account, KECCAK256_NULL} from "@ethereumjs/util";
import {toHex} from "../../storage/hex.ts";
import type {StateTrie} from "../trie/stateTrie.ts";
import {codeKey, type TrieNodes} from "../trie/trieNodes.ts";
import {type ByteKey, fromKey, sameBytes, toKey} from "./byteKey.ts";
import {ExecutionError} from "./executionError.ts";
import {NO_BYTES, type StateBase} from "./stateOverlay.ts";

const MAX_CACHED_CODE_BYTES = 32 << 20;

export class BaseState implements StateBase {
  /** undefined: there is no such account. */
  private readonly accounts = new Map<ByteKey, Account | undefined>();
  private readonly slots = new Map<ByteKey, Map<ByteKey, Uint8Array>>();
  private readonly codes = new Map<ByteKey, Uint8Array>();
  private cachedCodeBytes = 0;

  constructor(
    private readonly nodes: TrieNodes,
    private readonly trie: StateTrie,
  ) {}

  /** Call it when the trie has moved on. */
  clearCache(): void {
    this.accounts.clear();
    this.slots.clear();
  }

  /** The caller must not change the result. */
  readAccount(key: ByteKey): Account | undefined {
    const cached = this.accounts.get(key);
    if (cached !== undefined || this.accounts.has(key)) return cached;
    const held = this.trie.readAccount(fromKey(key));
    const account = held && new Account(held.nonce, held.balance, held.storageRoot, held.codeHash);
    this.accounts.set(key, account);
    return account;
  }

  /** Without leading zeros. */
  readSlot(key: ByteKey, slot: Uint8Array): Uint8Array {
    const slots = this.slots.get(key) ?? new Map<ByteKey, Uint8Array>();
    const slotKey = toKey(slot);
    const cached = slots.get(slotKey);
    if (cached !== undefined) return cached;
    const account = this.readAccount(key);
    const value = account === undefined ? NO_BYTES : this.trie.readSlot(account.storageRoot, slot);
    this.slots.set(key, slots.set(slotKey, value));
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
