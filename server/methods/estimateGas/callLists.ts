/** Parses the two lists that a call of chain_estimateGas may have: the access list (EIP-2930) and authorizations (EIP-7702). */
import type {AccessListEntry, Authorization} from "../../../workers/messages/estimateCall.ts";
import {FieldNames} from "../../rpc/fieldNames.ts";
import {createValueError} from "../../rpc/rpcError.ts";
import {decodeWordInto, WORD_BYTES, WORD_EXPECTED} from "../words.ts";
import {
  type Bound,
  type Fields,
  NONCE_BOUND,
  parseAddress,
  parseAmount,
  parseFields,
  parseWei,
  readField,
} from "./callValues.ts";

const BYTE_BOUND: Bound = {below: 2n ** 8n, text: "2^8"};
/** EIP-7702: a nonce of 2^64 or more makes the transaction invalid. 2^64 - 1 only makes its authorization void. */
const SIGNED_NONCE_BOUND: Bound = {below: NONCE_BOUND.below + 1n, text: "2^64"};
/** In legacy signatures, `v` is this or one more. */
const LEGACY_V = 27n;
const LISTED_NAMES = new FieldNames(["address", "storageKeys"]);
const SIGNED_NAMES = new FieldNames(["chainId", "address", "nonce", "yParity", "v", "r", "s"]);

export function parseAccessList(list: unknown, path: string): AccessListEntry[] {
  if (!Array.isArray(list)) throw createValueError(path, list, "an array of {address, storageKeys}");
  return list.map((entry: unknown, index) => parseAccessListEntry(entry, `${path}[${index}]`));
}

function parseAccessListEntry(entry: unknown, path: string): AccessListEntry {
  const fields = parseFields(entry, path, "{address, storageKeys}");
  LISTED_NAMES.requireCase(fields, path);
  return {
    address: parseAddress(readField(fields, "address"), `${path}.address`),
    storageKeys: parseStorageKeys(readField(fields, "storageKeys"), `${path}.storageKeys`),
  };
}

/** Reads keys like the storage keys of chain_getProof. @returns 32 bytes each */
function parseStorageKeys(keys: unknown, path: string): Uint8Array {
  if (keys === undefined) return new Uint8Array(0);
  if (!Array.isArray(keys)) throw createValueError(path, keys, "an array of storage keys");
  const words = new Uint8Array(keys.length * WORD_BYTES);
  for (let index = 0; index < keys.length; index++) {
    if (!decodeWordInto(keys[index], words, index * WORD_BYTES))
      throw createValueError(`${path}[${index}]`, keys[index], WORD_EXPECTED);
  }
  return words;
}

/** @returns at least one */
export function parseAuthorizationList(list: unknown, path: string): Authorization[] {
  if (!Array.isArray(list) || list.length === 0)
    throw createValueError(path, list, "a non-empty array of {chainId, address, nonce, yParity, r, s}");
  return list.map((entry: unknown, index) => parseAuthorization(entry, `${path}[${index}]`));
}

function parseAuthorization(entry: unknown, path: string): Authorization {
  const fields = parseFields(entry, path, "{chainId, address, nonce, yParity, r, s}");
  SIGNED_NAMES.requireCase(fields, path);
  return {
    chainId: parseWei(readField(fields, "chainId"), `${path}.chainId`),
    address: parseAddress(readField(fields, "address"), `${path}.address`),
    nonce: parseAmount(readField(fields, "nonce"), `${path}.nonce`, SIGNED_NONCE_BOUND),
    yParity: parseParity(fields, path),
    r: parseWei(readField(fields, "r"), `${path}.r`),
    s: parseWei(readField(fields, "s"), `${path}.s`),
  };
}

/** Reads `yParity`, or `v` in its place. `v` may be 27 or 28 for 0 or 1. Answers of nodes have both. */
function parseParity(fields: Fields, path: string): bigint {
  const yParity = readField(fields, "yParity");
  const v = readField(fields, "v");
  if (v === undefined) return parseAmount(yParity, `${path}.yParity`, BYTE_BOUND);
  const sent = parseAmount(v, `${path}.v`, BYTE_BOUND);
  const parity = sent === LEGACY_V || sent === LEGACY_V + 1n ? sent - LEGACY_V : sent;
  if (yParity !== undefined && parseAmount(yParity, `${path}.yParity`, BYTE_BOUND) !== parity)
    throw createValueError(`${path}.v`, v, "the same as yParity, or only one of them");
  return parity;
}
