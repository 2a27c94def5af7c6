/**
 * The changes of a trie log, with the old values that the store must have.
 *
 *   old, new      cleared   the account
 *   null, value             is created
 *   value, null             is deleted
 *   value, value            changes, or was only read if the values are equal
 *   value, value  1         was deleted and created again: storage starts empty; code is kept if the log has none
 *   null, null              does not exist, or was created and deleted within the block
 *
 * Old values of slots of an account that was deleted, or deleted and created again, are not compared: Besu mixes values
 * of both accounts there.
 */
import type {
  AccountBefore,
  AccountDifference,
  SlotDifference,
} from "../../../storage/block/accountDifference.ts";
import {AccountDifferences} from "../../../storage/block/accountDifferences.ts";
import {KECCAK_EMPTY, keccak256} from "../../../storage/hash/keccak.ts";
import {isSame, toHex} from "../../../storage/hex.ts";
import {writeWordInto} from "../../../storage/tree/shortNumber.ts";
import {EMPTY_ROOT} from "../../../storage/trie/trie.ts";
import {SourceError} from "../sourceStep.ts";
import type {TrieLog, TrieLogAccount, TrieLogChange, TrieLogSlot, TrieLogValue} from "./trieLog.ts";

const WORD_BYTES = 32;
const NO_BYTES = new Uint8Array(0);

/** @throws SourceError naming block, account and slot */
export function toDifferences({blockNumber, accounts}: TrieLog): AccountDifferences {
  const differences = new AccountDifferences();
  for (const account of accounts) {
    const where = `trie log of block ${blockNumber}: account ${toHex(account.address)}`;
    differences.add(diffAccount(account, where));
  }
  return differences;
}

function diffAccount(entry: TrieLogAccount, where: string): AccountDifference {
  for (const {key, keyHash} of entry.storage)
    if (key !== undefined && !isSame(keccak256(wordOf(key)), keyHash))
      throw new SourceError(`${where}: slot ${toHex(wordOf(key))} does not have the hash ${toHex(keyHash)}`);
  if (entry.value === undefined) return diffUnknown(entry, where);
  checkCode(entry.code, entry.value, where);
  const {before, after, cleared} = entry.value;
  const keccakCodeHash = codeHashOf(before);
  const known: AccountBefore =
    before === undefined
      ? {present: false}
      : {present: true, nonce: before.nonce, balance: before.balance, keccakCodeHash};
  if (after === undefined) {
    checkNoSlotsLeft(entry, where);
    return {address: entry.address, change: undefined, before: known};
  }
  if (before === undefined || cleared) return {...diffCreated(entry, before, after, where), before: known};
  return {...diffKept(entry, before, after, where), before: known};
}

/** The log does not have the account's value: nonce and balance are unchanged. */
function diffUnknown({address, code, storage}: TrieLogAccount, where: string): AccountDifference {
  const slots = storage.map(slot => diffSlot(slot, where));
  const onlyRead = code === undefined && storage.every(isRead);
  const change = {storage: slots, code: newCode(code)};
  if (onlyRead && storage.every(({before}) => before.length === 0)) return {address, change, onlyRead};
  const keccakCodeHash = code && hashCode(code.before);
  return {address, change, before: {present: true, keccakCodeHash}, onlyRead};
}

/** The account exists after the block and was created in it. */
function diffCreated(
  {address, code, storage, value}: TrieLogAccount,
  before: TrieLogValue | undefined,
  {nonce, balance}: TrieLogValue,
  where: string,
): AccountDifference {
  const reset = before !== undefined;
  // Slots that are zero after the block need no entry in a storage that starts empty.
  const slots =
    value?.cleared === true
      ? storage
          .filter(({key, after}) => key !== undefined && after.length > 0)
          .map(slot => ({slot: wordOf(slot.key ?? NO_BYTES), value: wordOf(slot.after)}))
      : storage.map(slot => diffSlot(slot, where));
  for (const {key, keyHash, after} of storage)
    if (key === undefined && after.length > 0) throw noKey(keyHash, where);
  const keepsCode = code === undefined && reset;
  return {address, change: {reset, nonce, balance, code: newCode(code), keepsCode, storage: slots}};
}

/** The account exists before and after the block. */
function diffKept(
  {address, code, storage}: TrieLogAccount,
  before: TrieLogValue,
  after: TrieLogValue,
  where: string,
): AccountDifference {
  const slots = storage.map(slot => diffSlot(slot, where));
  const hasChangedSlots = !storage.every(isRead);
  if (!hasChangedSlots && !isSame(rootOf(before), rootOf(after)))
    throw new SourceError(`${where}: its storage root changes, but none of its slots does`);
  const nonce = after.nonce === before.nonce ? undefined : after.nonce;
  const balance = after.balance === before.balance ? undefined : after.balance;
  const onlyRead = nonce === undefined && balance === undefined && code === undefined && !hasChangedSlots;
  return {address, change: {nonce, balance, code: newCode(code), storage: slots}, onlyRead};
}

function diffSlot({key, keyHash, before, after, cleared}: TrieLogSlot, where: string): SlotDifference {
  if (key === undefined) throw noKey(keyHash, where);
  const isWrittenAgain = cleared && before.length > 0 && after.length > 0;
  return {slot: wordOf(key), value: wordOf(after), before: wordOf(before), reset: isWrittenAgain};
}

/** Code must match the code hashes, and new code must be present. */
function checkCode(
  code: TrieLogChange<Uint8Array> | undefined,
  {before, after, cleared}: TrieLogChange<TrieLogValue>,
  where: string,
): void {
  const [oldHash, newHash] = [codeHashOf(before), codeHashOf(after)];
  if (code === undefined) {
    if (after !== undefined && !isSame(newHash, oldHash))
      throw new SourceError(`${where}: its code changes to ${toHex(newHash)}, but the code is missing`);
    return;
  }
  if (!isSame(hashCode(code.after), newHash))
    throw new SourceError(
      `${where}: expected its new code to have the hash ${toHex(newHash)}, got ${toHex(hashCode(code.after))}`,
    );
  if (!cleared && !isSame(hashCode(code.before), oldHash))
    throw new SourceError(
      `${where}: expected its old code to have the hash ${toHex(oldHash)}, got ${toHex(hashCode(code.before))}`,
    );
}

function checkNoSlotsLeft({storage}: TrieLogAccount, where: string): void {
  for (const {keyHash, after} of storage)
    if (after.length > 0)
      throw new SourceError(
        `${where} does not exist after the block, but its slot of hash ${toHex(keyHash)} is`,
      );
}

function noKey(keyHash: Uint8Array, where: string): SourceError {
  return new SourceError(
    `${where}: the slot of hash ${toHex(keyHash)} has no key. Was the log written without the Shomei plugin?`,
  );
}

function isRead({before, after, cleared}: TrieLogSlot): boolean {
  return isSame(before, after) && !(cleared && after.length > 0);
}

function codeHashOf(value: TrieLogValue | undefined): Uint8Array {
  return value?.keccakCodeHash ?? KECCAK_EMPTY;
}

function newCode(code: TrieLogChange<Uint8Array> | undefined): Uint8Array | undefined {
  return code && (code.after ?? NO_BYTES);
}

function hashCode(code: Uint8Array | undefined): Uint8Array {
  return code === undefined ? KECCAK_EMPTY : keccak256(code);
}

function rootOf({evmStorageRoot}: TrieLogValue): Uint8Array {
  return evmStorageRoot ?? EMPTY_ROOT;
}

function wordOf(number: Uint8Array): Uint8Array {
  const word = new Uint8Array(WORD_BYTES);
  writeWordInto(word, 0, number);
  return word;
}
