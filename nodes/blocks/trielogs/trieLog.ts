/**
 * A trie log: what a block read and wrote, with old and new values, as encoded by the Shomei plugin of Besu. RLP:
 *
 *   log      [blockHash 32, blockNumber, account*, integer*]
 *   account  [address 20, change of code | null, change of value | null, [slot*] | null]
 *   change   [old | null, new | null, cleared]
 *   value    [nonce, balance, evmStorageRoot 32 | null, keccakCodeHash 32 | null]
 *   slot     [keccak(key) 32, old | null, new | null, cleared, (key)]
 *
 * 0x80 is null, zero, no bytes and false. `cleared` is 1 if the item was deleted at some point within the block. A slot
 * without its key belongs to a deleted account, whose untouched slots Besu knows only by their hashes. The integers at
 * the end (origin and time of the log) are ignored.
 *
 * This file only parses; trieLogDifference.ts interprets.
 */
import {RlpError, RlpReader} from "../../../storage/rlp/rlpReader.ts";
import {SourceError} from "../sourceStep.ts";

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
  /** undefined: unchanged. */
  readonly code: TrieLogChange<Uint8Array> | undefined;
  /** undefined: unknown. An account that was only read has the same value twice. */
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
  /** 32 bytes: the root of the Merkle-Patricia trie; undefined: of the empty trie. */
  readonly evmStorageRoot: Uint8Array | undefined;
  /** 32 bytes; undefined: of empty code. */
  readonly keccakCodeHash: Uint8Array | undefined;
}

export interface TrieLogSlot {
  /** 32 bytes: keccak of the key. */
  readonly keyHash: Uint8Array;
  /** Without leading zeros, as the values; undefined: not in the log. */
  readonly key: Uint8Array | undefined;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  readonly cleared: boolean;
}

/** Ten times what a block of 500 million gas can write. */
export const MAX_TRIE_LOG_BYTES = 32 << 20;
const MAX_ACCOUNTS = 1 << 18;
/** Over all accounts of a block. */
const MAX_SLOTS = 1 << 19;
const MAX_INTEGERS = 16;

/** The bytes of the result are views. @throws SourceError naming block and byte */
export function decodeTrieLog(bytes: Uint8Array): TrieLog {
  const reading = new Reading();
  try {
    if (bytes.length > MAX_TRIE_LOG_BYTES)
      throw new RlpError(`expected at most ${MAX_TRIE_LOG_BYTES} bytes, got ${bytes.length}`);
    // Views of a Buffer are Buffers, which cost three times as much.
    return readLog(new RlpReader(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)), reading);
  } catch (error) {
    if (!(error instanceof RlpError)) throw error;
    const {where, byte, what} = reading;
    throw new SourceError(`${where}, byte ${byte}: ${what}: ${error.message}`, {cause: error});
  }
}

/** The item being read, for messages. */
class Reading {
  where = "trie log";
  what = "the trie log";
  byte = 0;

  /** Called before each item. @returns `from` */
  next(what: string, from: RlpReader): RlpReader {
    this.what = what;
    this.byte = from.at;
    return from;
  }
}

function readLog(outer: RlpReader, reading: Reading): TrieLog {
  const log = outer.readList();
  reading.next("what comes after the trie log", outer).close();
  const blockHash = reading.next("the block hash", log).readBytes(32);
  const blockNumber = Number(reading.next("the block number", log).readNumber(6));
  reading.where = `trie log of block ${blockNumber}`;
  const accounts: TrieLogAccount[] = [];
  let slots = 0;
  while (log.isList) {
    reading.next("an account", log);
    if (accounts.length === MAX_ACCOUNTS) throw new RlpError(`expected at most ${MAX_ACCOUNTS} accounts`);
    const account = readAccount(log.readList(), reading, MAX_SLOTS - slots);
    slots += account.storage.length;
    accounts.push(account);
  }
  for (let integers = 0; !log.isDone; integers++) {
    reading.next("an integer at the end", log);
    if (integers === MAX_INTEGERS) throw new RlpError(`expected at most ${MAX_INTEGERS} of them`);
    log.readNumber(8);
  }
  return {blockHash, blockNumber, accounts};
}

function readAccount(account: RlpReader, reading: Reading, maxSlots: number): TrieLogAccount {
  const address = reading.next("an address", account).readBytes(20);
  const code = readChange(account, reading, "code", change => change.readBytes());
  const value = readChange(account, reading, "an account's value", change =>
    readValue(change.readList(), reading),
  );
  const storage = isNull(reading.next("a storage", account))
    ? []
    : readStorage(account.readList(), reading, maxSlots);
  reading.next("an account", account).close();
  return {address, code, value, storage};
}

/** @param read - reads a value that is not null */
function readChange<T>(
  account: RlpReader,
  reading: Reading,
  what: string,
  read: (change: RlpReader) => T,
): TrieLogChange<T> | undefined {
  if (isNull(reading.next(`the change of ${what}`, account))) return undefined;
  const change = account.readList();
  const before = isNull(reading.next(what, change)) ? undefined : read(change);
  const after = isNull(reading.next(what, change)) ? undefined : read(change);
  const cleared = readCleared(change, reading);
  reading.next(`the change of ${what}`, change).close();
  return {before, after, cleared};
}

function readValue(value: RlpReader, reading: Reading): TrieLogValue {
  const nonce = reading.next("a nonce", value).readNumber(8);
  const balance = reading.next("a balance", value).readNumber(32);
  const evmStorageRoot = readHash(reading.next("a storage root", value));
  const keccakCodeHash = readHash(reading.next("a code hash", value));
  reading.next("an account's value", value).close();
  return {nonce, balance, evmStorageRoot, keccakCodeHash};
}

function readStorage(storage: RlpReader, reading: Reading, maxSlots: number): TrieLogSlot[] {
  const slots: TrieLogSlot[] = [];
  while (!storage.isDone) {
    reading.next("a slot", storage);
    if (slots.length === maxSlots) throw new RlpError(`expected at most ${MAX_SLOTS} slots`);
    const slot = storage.readList();
    const keyHash = reading.next("the hash of a slot's key", slot).readBytes(32);
    const before = reading.next("a slot's old value", slot).readNumberBytes(32);
    const after = reading.next("a slot's new value", slot).readNumberBytes(32);
    const cleared = readCleared(slot, reading);
    const key = slot.isDone ? undefined : reading.next("a slot's key", slot).readNumberBytes(32);
    reading.next("a slot", slot).close();
    slots.push({keyHash, key, before, after, cleared});
  }
  return slots;
}

function readCleared(from: RlpReader, reading: Reading): boolean {
  const flag = reading.next("a cleared flag", from).readNumber(1);
  if (flag > 1n) throw new RlpError(`expected 0 or 1, got ${flag}`);
  return flag === 1n;
}

function readHash(from: RlpReader): Uint8Array | undefined {
  return isNull(from) ? undefined : from.readBytes(32);
}

function isNull(from: RlpReader): boolean {
  if (!from.isEmpty) return false;
  from.readBytes(0);
  return true;
}
