/** Parses the two lists that a call may have: the access list (EIP-2930) and authorizations (EIP-7702). */
import type {AccessListEntry, Authorization} from "../../../workers/messages/estimateCall.ts";
import type {Work} from "../../fairness/work.ts";
import {FieldNames} from "../../rpc/fieldNames.ts";
import {createValueError} from "../../rpc/rpcError.ts";
import {ADDRESS_BYTES, decodeWordInto, requireAddressInto, WORD_BYTES, WORD_EXPECTED} from "../words.ts";
import {countAccessList} from "./callCost.ts";
import {
  type Bound,
  type Fields,
  NONCE_BOUND,
  PART_ENTRIES,
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

export function* parseAccessList(list: unknown, path: string): Work<AccessListEntry[]> {
  if (!Array.isArray(list)) throw createValueError(path, list, "an array of {address, storageKeys}");
  // Views into two buffers: structured clone takes a third of a microsecond for each buffer.
  const addresses = new Uint8Array(list.length * ADDRESS_BYTES);
  const words = new Uint8Array((countAccessList(list) - list.length) * WORD_BYTES);
  const entries: AccessListEntry[] = [];
  let end = 0;
  for (const [index, entry] of list.entries()) {
    const entryPath = `${path}[${index}]`;
    const fields = parseFields(entry, entryPath, "{address, storageKeys}");
    LISTED_NAMES.requireCase(fields, entryPath);
    const address = addresses.subarray(index * ADDRESS_BYTES, (index + 1) * ADDRESS_BYTES);
    requireAddressInto(readField(fields, "address"), `${entryPath}.address`, address, 0);
    const start = end;
    const keys = readField(fields, "storageKeys") ?? [];
    const keysPath = `${entryPath}.storageKeys`;
    if (!Array.isArray(keys)) throw createValueError(keysPath, keys, "an array of storage keys");
    for (const [at, key] of keys.entries()) {
      if (at % PART_ENTRIES === PART_ENTRIES - 1) yield;
      if (!decodeWordInto(key, words, end)) throw createValueError(`${keysPath}[${at}]`, key, WORD_EXPECTED);
      end += WORD_BYTES;
    }
    entries.push({address, storageKeys: words.subarray(start, end)});
    if (index % PART_ENTRIES === PART_ENTRIES - 1) yield;
  }
  return entries;
}

export function* parseAuthorizationList(list: unknown, path: string): Work<Authorization[]> {
  if (!Array.isArray(list) || list.length === 0)
    throw createValueError(path, list, "a non-empty array of {chainId, address, nonce, yParity, r, s}");
  const parsed: Authorization[] = [];
  for (const [index, entry] of list.entries()) {
    if (index % PART_ENTRIES === PART_ENTRIES - 1) yield;
    parsed.push(parseAuthorization(entry, `${path}[${index}]`));
  }
  return parsed;
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
