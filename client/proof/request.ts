/** Requests for proofs: addresses and storage keys, as text from the caller. */
import {decodeHex, encodeHex} from "../bytes/hex.ts";
import {isObject, shown} from "../bytes/values.ts";
import {hashWord, type KeyHashes, word} from "../hash/hashSuites.ts";
import {type ArraySize, check, readArray} from "./strictJson.ts";

/** An account and some of its slots, as callers ask for them. */
export interface ProofEntry {
  /** `0x` and 40 digits in any case. */
  readonly address: string;
  /** `0x` and 1 to 64 digits each, in any case. Default: none. */
  readonly storageKeys?: readonly string[] | undefined;
}

/** The same, with all fields. */
export interface ProofRequest extends ProofEntry {
  readonly storageKeys: readonly string[];
}

/** A key of a tree, and how an answer spells it. */
export interface AskedKey {
  readonly text: string;
  /** 32 bytes. */
  readonly hKey: Uint8Array;
}

/** @throws ProofError, as all of these, for an invalid address or key */
export function parseAddress(address: unknown): Uint8Array {
  check(
    typeof address === "string" && /^0x[0-9a-fA-F]{40}$/.test(address),
    "request",
    () => `expected an address of 20 bytes, got ${shown(address)}`,
  );
  return decodeHex(address.toLowerCase());
}

export function parseStorageKey(key: unknown): bigint {
  check(
    typeof key === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(key),
    "request",
    () => `expected a storage key of 0x and 1 to 64 digits, got ${shown(key)}`,
  );
  return BigInt(key);
}

export function readAddress(suite: KeyHashes, address: unknown): AskedKey {
  const bytes = parseAddress(address);
  return {text: encodeHex(bytes), hKey: suite.hashAddress(bytes)};
}

export function readStorageKey(suite: KeyHashes, key: unknown): AskedKey {
  const slot = parseStorageKey(key);
  return {text: encodeHex(word(slot)), hKey: hashWord(suite, slot)};
}

/** @param size - default: any, as the request is the caller's own */
export function readStorageKeys(suite: KeyHashes, keys: unknown, size?: ArraySize): AskedKey[] {
  return readArray("request", keys, size, key => readStorageKey(suite, key));
}

export function readEntry(entry: unknown): {readonly address: unknown; readonly storageKeys: unknown} {
  check(isObject(entry), "request", () => `expected an object, got ${shown(entry)}`);
  return {address: entry.address, storageKeys: entry.storageKeys ?? []};
}
