/** The requested keys of proof bytes or a multiproof: of the account tree, or of one storage tree. */
import type {KeyHashes} from "../hash/hashSuites.ts";
import {type ProofEntry, readAddress, readEntry, readStorageKeys} from "../proof/request.ts";
import {type ArraySize, checkCount, readArray} from "../proof/strictJson.ts";
import {MAX_KEYS} from "./treePart.ts";

export interface AskedAccounts {
  readonly tree: "accounts";
  readonly hKeys: readonly Uint8Array[];
  readonly slots: readonly (readonly Uint8Array[])[];
}

export type Asked = AskedAccounts | {readonly tree: "slots"; readonly hKeys: readonly Uint8Array[]};

/** @throws ProofError for an invalid address or key, no entries or too many, and too many slots of one account */
export function askAccounts(suite: KeyHashes, request: readonly ProofEntry[]): AskedAccounts {
  // An account has one tree part, however many entries name it, and the limit is that of the part. Keyed by address.
  const counts = new Map<string, number>();
  const ofAccount = sizeOf(0, "storage keys of one account");
  const entries = readArray("request", request, sizeOf(1, "entries"), entry => {
    const {address, storageKeys} = readEntry(entry);
    const {text, hKey} = readAddress(suite, address);
    const slots = hashKeys(suite, storageKeys, ofAccount);
    const count = (counts.get(text) ?? 0) + slots.length;
    checkCount("request", count, ofAccount);
    counts.set(text, count);
    return {hKey, slots};
  });
  return {tree: "accounts", hKeys: entries.map(({hKey}) => hKey), slots: entries.map(({slots}) => slots)};
}

/** @throws ProofError for an invalid key, and for no keys or too many */
export function askSlots(suite: KeyHashes, keys: readonly string[]): Asked {
  return {tree: "slots", hKeys: hashKeys(suite, keys, sizeOf(1, "storage keys"))};
}

/** @returns hKeys of the slots of all entries that name a leaf, in request order */
export function slotsOf({slots}: AskedAccounts, named: readonly number[]): readonly Uint8Array[] {
  return named.flatMap(entry => slots[entry] ?? []);
}

function hashKeys(suite: KeyHashes, keys: unknown, size: ArraySize): Uint8Array[] {
  return readStorageKeys(suite, keys, size).map(({hKey}) => hKey);
}

function sizeOf(least: number, what: string): ArraySize {
  return {least, most: MAX_KEYS, what};
}
