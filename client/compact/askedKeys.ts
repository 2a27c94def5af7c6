/** The keys for which a verifier wants proof bytes or a multiproof: of the account tree, or of one storage tree. */
import type {KeyHashes} from "../hash/hashSuites.ts";
import {type ProofEntry, readAddress, readStorageKey} from "../proof/request.ts";
import {check} from "../proof/strictJson.ts";
import {MAX_KEYS} from "./treePart.ts";

export interface AskedAccounts {
  readonly tree: "accounts";
  /** hKey of each entry's address. */
  readonly hKeys: readonly Uint8Array[];
  /** hKeys of each entry's slots. */
  readonly slots: readonly (readonly Uint8Array[])[];
}

export type Asked = AskedAccounts | {readonly tree: "slots"; readonly hKeys: readonly Uint8Array[]};

/** @throws ProofError if an address or a key is none, there are no entries or too many, or too many slots of one account */
export function askAccounts(suite: KeyHashes, request: readonly ProofEntry[]): AskedAccounts {
  checkCount(request.length, 1, "entries");
  const hKeys = request.map(({address}) => readAddress(suite, address).hKey);
  // An account has one tree part, however many entries name it: the limit is that of the part. Addresses are hex text.
  const counts = new Map<string, number>();
  for (const {address, storageKeys = []} of request) {
    const account = address.toLowerCase();
    const count = (counts.get(account) ?? 0) + storageKeys.length;
    checkCount(count, 0, "storage keys of one account");
    counts.set(account, count);
  }
  return {tree: "accounts", hKeys, slots: request.map(({storageKeys = []}) => hashKeys(suite, storageKeys))};
}

/** @throws ProofError if a key is none, or there are no keys or too many */
export function askSlots(suite: KeyHashes, keys: readonly string[]): Asked {
  checkCount(keys.length, 1, "storage keys");
  return {tree: "slots", hKeys: hashKeys(suite, keys)};
}

/** @returns hKeys of the slots of all entries that name a leaf, in request order */
export function slotsOf({slots}: AskedAccounts, named: readonly number[]): readonly Uint8Array[] {
  return named.flatMap(entry => slots[entry] ?? []);
}

function hashKeys(suite: KeyHashes, keys: readonly string[]): Uint8Array[] {
  return keys.map(key => readStorageKey(suite, key).hKey);
}

function checkCount(count: number, min: number, what: string): void {
  check(count >= min && count <= MAX_KEYS, "request", `expected ${min} to ${MAX_KEYS} ${what}, got ${count}`);
}
