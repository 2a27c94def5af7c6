/**
 * A trie log: what a block read and wrote, with old and new values, as the Shomei plugin of Besu writes it. RLP:
 *
 *   log      [blockHash 32, blockNumber, account*, integer*]
 *   account  [address 20, change of code | null, change of value | null, [slot*] | null]
 *   change   [old | null, new | null, cleared]
 *   value    [nonce, balance, evmStorageRoot 32 | null, keccakCodeHash 32 | null]
 *   slot     [keccak(key) 32, old | null, new | null, cleared, (key)]
 *
 * 0x80 is null, zero, no bytes and false. `cleared` is 1 if what it belongs to was deleted at some time within the block. A slot
 * without its key is one of a deleted account, whose other slots Besu knows by their hashes only. The integers at the end (how the
 * log was made, and the time) are not used.
 *
 * Here only the form is read; trieLogDifference.ts says what it means.
 */
import {RlpReader} from "./rlpReader.ts";

export interface TrieLog {
  /** 32 bytes. */
  readonly blockHash: Uint8Array;
  /** Below 2^48. */
  readonly blockNumber: number;
  readonly accounts: readonly TrieLogAccount[];
}

export interface TrieLogAccount {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** undefined: not changed. */
  readonly code: TrieLogChange<Uint8Array> | undefined;
  /** undefined: not known. An account that was only read has the same value twice. */
  readonly value: TrieLogChange<TrieLogValue> | undefined;
  readonly storage: readonly TrieLogSlot[];
}

export interface TrieLogChange<T> {
  readonly before: T | undefined;
  readonly after: T | undefined;
  readonly cleared: boolean;
}

export interface TrieLogValue {
  readonly nonce: bigint;
  readonly balance: bigint;
  /** 32 bytes: the root of the Merkle-Patricia trie; undefined: that of an empty one. */
  readonly evmStorageRoot: Uint8Array | undefined;
  /** 32 bytes; undefined: that of no code. */
  readonly keccakCodeHash: Uint8Array | undefined;
}

export interface TrieLogSlot {
  /** 32 bytes: keccak of the key. */
  readonly keyHash: Uint8Array;
  /** Without leading zeros, as are the values; undefined: not given. */
  readonly key: Uint8Array | undefined;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  readonly cleared: boolean;
}

/** Ten times what a block of 500 million gas can write. */
export const MAX_TRIE_LOG_BYTES = 32 << 20;
const MAX_ACCOUNTS = 1 << 18;
/** Of all accounts of a block. */
const MAX_SLOTS = 1 << 19;
const MAX_INTEGERS = 16;

/** The bytes of the result are views. @throws TrieLogError naming block and byte */
export function decodeTrieLog(bytes: Uint8Array): TrieLog {
  const reader = new RlpReader(bytes, "trie log");
  if (bytes.length > MAX_TRIE_LOG_BYTES)
    throw reader.error(`expected at most ${MAX_TRIE_LOG_BYTES} bytes, got ${bytes.length}`);
  reader.enterList("the trie log");
  const blockHash = reader.readFixed("the block hash", 32);
  const blockNumber = Number(reader.readNumber("the block number", 6));
  reader.where = `trie log of block ${blockNumber}`;
  const accounts: TrieLogAccount[] = [];
  let slots = 0;
  while (reader.nextIsList) {
    if (accounts.length === MAX_ACCOUNTS) throw reader.error(`more than ${MAX_ACCOUNTS} accounts`);
    const account = readAccount(reader, MAX_SLOTS - slots);
    slots += account.storage.length;
    accounts.push(account);
  }
  for (let integers = 0; !reader.isAtEnd; integers++) {
    if (integers === MAX_INTEGERS) throw reader.error(`more than ${MAX_INTEGERS} integers at the end`);
    reader.readNumber("an integer at the end", 8);
  }
  reader.leaveList("the trie log");
  reader.finish();
  return {blockHash, blockNumber, accounts};
}

function readAccount(reader: RlpReader, maxSlots: number): TrieLogAccount {
  reader.enterList("an account");
  const address = reader.readFixed("an address", 20);
  const code = readNullable(reader, () => readChange(reader, "code", () => reader.readBytes("code")));
  const value = readNullable(reader, () => readChange(reader, "an account's value", () => readValue(reader)));
  const storage = readNullable(reader, () => readStorage(reader, maxSlots)) ?? [];
  reader.leaveList("an account");
  return {address, code, value, storage};
}

function readChange<T>(reader: RlpReader, what: string, read: () => T): TrieLogChange<T> {
  const name = `the change of ${what}`;
  reader.enterList(name);
  const before = readNullable(reader, read);
  const after = readNullable(reader, read);
  const cleared = readCleared(reader);
  reader.leaveList(name);
  return {before, after, cleared};
}

function readValue(reader: RlpReader): TrieLogValue {
  reader.enterList("an account's value");
  const nonce = reader.readNumber("a nonce", 8);
  const balance = reader.readNumber("a balance", 32);
  const evmStorageRoot = readNullable(reader, () => reader.readFixed("a storage root", 32));
  const keccakCodeHash = readNullable(reader, () => reader.readFixed("a code hash", 32));
  reader.leaveList("an account's value");
  return {nonce, balance, evmStorageRoot, keccakCodeHash};
}

function readStorage(reader: RlpReader, maxSlots: number): TrieLogSlot[] {
  const slots: TrieLogSlot[] = [];
  reader.enterList("a storage");
  while (!reader.isAtEnd) {
    if (slots.length === maxSlots) throw reader.error(`more than ${MAX_SLOTS} slots`);
    reader.enterList("a slot");
    const keyHash = reader.readFixed("the hash of a slot's key", 32);
    const before = reader.readScalar("a slot's old value", 32);
    const after = reader.readScalar("a slot's new value", 32);
    const cleared = readCleared(reader);
    const key = reader.isAtEnd ? undefined : reader.readScalar("a slot's key", 32);
    reader.leaveList("a slot");
    slots.push({keyHash, key, before, after, cleared});
  }
  reader.leaveList("a storage");
  return slots;
}

function readCleared(reader: RlpReader): boolean {
  const flag = reader.readNumber("a cleared flag", 1);
  if (flag > 1n) throw reader.error(`a cleared flag: expected 0 or 1, got ${flag}`);
  return flag === 1n;
}

function readNullable<T>(reader: RlpReader, read: () => T): T | undefined {
  if (!reader.nextIsNull) return read();
  reader.skipNull();
  return undefined;
}
