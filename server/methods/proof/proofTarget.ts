/**
 * The targets of proofs that caches may keep, and the calls that they stand for:
 *
 *   /v1/proof/{block}/{address}?slots=0x0,0x1                       chain_getProofAt    JSON
 *   /v1/multiproof/{block}/{digest}?keys=0xADDRESS:0x0,0x1;0xADDRESS chain_getMultiProof bytes
 *
 *   digest   SHA-256 of, for each entry: address 20 | number of slots u32 | slots, 32 bytes each. 64 hex digits
 *
 * A block is named by number, because a tag would mean another block later.
 */
import {createHash, type Hash} from "node:crypto";
import type {Call} from "../../rpc/envelope.ts";
import {parseQuantity} from "../../rpc/quantity.ts";
import {createValueError, RpcCode, RpcError} from "../../rpc/rpcError.ts";
import {
  ADDRESS_BYTES,
  ADDRESS_EXPECTED,
  decodeAddressInto,
  decodeWordInto,
  WORD_BYTES,
  WORD_EXPECTED,
} from "../words.ts";
import {getMultiProof} from "./getMultiProof.ts";
import {getProofAt} from "./getProof.ts";

export interface ProofTarget {
  readonly call: Call;
  readonly block: number;
  /** What is asked for, as 64 hex digits. */
  readonly digest: string;
  readonly isBytes: boolean;
}

interface Entry {
  readonly address: string;
  readonly storageKeys: readonly string[];
}

const PREFIX = "/v1/";
const DIGEST = /^[0-9a-f]{64}$/;
const EXPECTED_PATH = "/v1/proof/{block}/{address} or /v1/multiproof/{block}/{digest}";

export function isProofPath(path: string): boolean {
  return path.startsWith(PREFIX);
}

/**
 * Does not look at the block and the number of slots: the method does.
 *
 * @param query - without the question mark
 * @returns undefined if no such path exists
 * @throws RpcError INVALID_PARAMS
 */
export function parseProofTarget(path: string, query: string): ProofTarget | undefined {
  const [kind, block, name, ...rest] = path.slice(PREFIX.length).split("/");
  if ((kind !== "proof" && kind !== "multiproof") || rest.length > 0) return undefined;
  if (block === undefined || name === undefined)
    throw new RpcError(RpcCode.INVALID_PARAMS, `the path: expected ${EXPECTED_PATH}`);
  const number = parseQuantity(block);
  if (number === undefined) throw createValueError("block", block, "a 0x block number");
  if (kind === "proof") {
    const storageKeys = splitSlots(readParameter(query, "slots", false));
    const digest = digestOf([{address: name, storageKeys}]);
    const call = callOf(getProofAt.name, [name, storageKeys, block]);
    return {call, block: number, digest, isBytes: false};
  }
  const entries = readParameter(query, "keys", true).split(";").map(parseEntry);
  const digest = digestOf(entries);
  if (!DIGEST.test(name)) throw createValueError("digest", name, "64 lower-case hex digits");
  if (name !== digest) throw createValueError("digest", name, `that of the keys, ${digest}`);
  const call = callOf(getMultiProof.name, [entries, block]);
  return {call, block: number, digest, isBytes: true};
}

/** Its answer in JSON has the id 0. */
function callOf(method: string, params: readonly unknown[]): Call {
  return {idText: "0", method, params, error: undefined};
}

/** @returns the value of the query's only parameter; "" if there is none and it is not required */
function readParameter(query: string, name: string, isRequired: boolean): string {
  if (query === "" && !isRequired) return "";
  const [key, value, ...rest] = query.split("=");
  if (key !== name || value === undefined || rest.length > 0)
    throw createValueError("the query", query, `${name}=..., and nothing else`);
  return value.replaceAll(/%(2c|3a|3b)/gi, escaped => decodeURIComponent(escaped));
}

function splitSlots(text: string): readonly string[] {
  return text === "" ? [] : text.split(",");
}

function parseEntry(text: string): Entry {
  const at = text.indexOf(":");
  if (at === -1) return {address: text, storageKeys: []};
  return {address: text.slice(0, at), storageKeys: splitSlots(text.slice(at + 1))};
}

function digestOf(entries: readonly Entry[]): string {
  const hash = createHash("sha256");
  for (const entry of entries) addEntry(hash, entry);
  return hash.digest("hex");
}

function addEntry(hash: Hash, {address, storageKeys}: Entry): void {
  const head = Buffer.alloc(ADDRESS_BYTES + 4);
  if (!decodeAddressInto(address, head, 0)) throw createValueError("address", address, ADDRESS_EXPECTED);
  head.writeUInt32BE(storageKeys.length, ADDRESS_BYTES);
  hash.update(head);
  const word = Buffer.alloc(WORD_BYTES);
  for (const key of storageKeys) {
    if (!decodeWordInto(key, word, 0)) throw createValueError("slot", key, WORD_EXPECTED);
    hash.update(word);
  }
}
