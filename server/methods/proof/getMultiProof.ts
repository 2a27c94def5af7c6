/**
 * chain_getMultiProof: one proof for many accounts and slots, with every node once (docs/proofs.md, sections 9 and 17),
 * in hex, or as bytes for a request of one call with `Accept: application/octet-stream`.
 */
import {
  ADDRESS_AT,
  AS_BYTES,
  KEYS_AT,
  MAX_MULTI_KEYS,
  ProofForm,
  writeCallHead,
} from "../../../workers/messages/packedCall.ts";
import type {Call} from "../../rpc/envelope.ts";
import {createLimitError, createValueError} from "../../rpc/rpcError.ts";
import type {LaneMethod} from "../method.ts";
import type {PackedCalls} from "../packedCalls.ts";
import {type Param, ParamList} from "../params.ts";
import {ADDRESS_PARAM, arrayOf, BLOCK_PARAM, BYTES, objectOf, STORAGE_KEY_PARAM} from "../schema.ts";
import {type BlockView, resolveSelector} from "../selector.ts";
import {ADDRESS_EXPECTED, decodeAddressInto, decodeWordInto, WORD_BYTES, WORD_EXPECTED} from "../words.ts";
import {getProof, KEYS_EXPECTED} from "./getProof.ts";
import {readIsTrie, SUITE_PARAM} from "./suiteParam.ts";

const ENTRY = objectOf({address: ADDRESS_PARAM, storageKeys: arrayOf(STORAGE_KEY_PARAM)});

export const MULTI_PROOF_PARAMS: readonly Param[] = [
  {name: "entries", required: true, schema: {...arrayOf(ENTRY), minItems: 1}},
  {name: "block", required: true, schema: BLOCK_PARAM},
  SUITE_PARAM,
];

const BLOCK_NAME = "params[1] (block)";

/** How callers write an account and its keys: as an object with these fields, or as an array with these positions. */
export interface EntryShape {
  readonly param: string;
  readonly expected: string;
  readonly length: number | undefined;
  readonly fields: readonly [address: string, keys: string];
}

const OBJECTS: EntryShape = {
  param: "params[0] (entries)",
  expected: "{address, storageKeys}",
  length: undefined,
  fields: ["address", "storageKeys"],
};

/** Cost of a call: 1 for each entry and 1 for each key. 0 if its shape or its numbers will be refused. */
export function multiProofCost(params: Call["params"], shape: EntryShape = OBJECTS): number {
  if (!Array.isArray(params)) return 0;
  const entries: unknown = params[0];
  if (!Array.isArray(entries) || entries.length > MAX_MULTI_KEYS) return 0;
  let cost = entries.length;
  for (const entry of entries) {
    const keys = readField(entry, shape.fields[1]);
    if (!Array.isArray(keys)) return 0;
    cost += keys.length;
  }
  return cost > MAX_MULTI_KEYS ? 0 : cost;
}

/**
 * Hot: its loops run once per entry and key.
 *
 * @param params - entries of that shape, and a block. @param form - of the call's first entry
 * @param packed - output, from `start`: room for the call's cost (PackedCalls). Unspecified after an error
 * @returns the end of the packed call. @throws RpcError
 */
export function packMultiProofCall(
  params: readonly unknown[],
  form: ProofForm,
  view: BlockView,
  packed: Buffer,
  start: number,
  shape: EntryShape = OBJECTS,
): number {
  const [entries, selector] = params;
  if (!Array.isArray(entries) || entries.length === 0)
    throw createValueError(shape.param, entries, `an array of one or more ${shape.expected}`);
  requireEntries(entries, shape);
  const block = resolveSelector(selector, BLOCK_NAME, "provable", view);
  const [addressField, keysField] = shape.fields;
  let at = start;
  for (let index = 0; index < entries.length; index++) {
    const address = entries[index][addressField];
    const keys = entries[index][keysField];
    writeCallHead(packed, at, block, keys.length, index === 0 ? form : ProofForm.NEXT_ENTRY);
    if (!decodeAddressInto(address, packed, at + ADDRESS_AT))
      throw createValueError(nameOf(index, addressField, shape), address, ADDRESS_EXPECTED);
    at += KEYS_AT;
    for (let key = 0; key < keys.length; key++) {
      if (!decodeWordInto(keys[key], packed, at))
        throw createValueError(`${nameOf(index, keysField, shape)}[${key}]`, keys[key], WORD_EXPECTED);
      at += WORD_BYTES;
    }
  }
  return at;
}

/** Checks the shape of all entries, and how many accounts and keys they have. @throws RpcError */
function requireEntries(entries: readonly unknown[], shape: EntryShape): void {
  let count = entries.length;
  requireCount(count, shape);
  for (let index = 0; index < entries.length; index++) {
    const entry: unknown = entries[index];
    const name = `params[0][${index}]`;
    const length = Array.isArray(entry) ? entry.length : undefined;
    if (typeof entry !== "object" || entry === null || length !== shape.length)
      throw createValueError(name, entry, shape.expected);
    const other = Object.keys(entry).find(field => !shape.fields.includes(field));
    if (other !== undefined) throw createValueError(name, other, "only address and storageKeys");
    const keys = readField(entry, shape.fields[1]);
    if (!Array.isArray(keys))
      throw createValueError(nameOf(index, shape.fields[1], shape), keys, KEYS_EXPECTED);
    count += keys.length;
  }
  requireCount(count, shape);
}

function requireCount(count: number, {param}: EntryShape): void {
  if (count > MAX_MULTI_KEYS)
    throw createLimitError(param, MAX_MULTI_KEYS, count, "accounts and storage keys");
}

function readField(entry: unknown, field: string): unknown {
  if (typeof entry !== "object" || entry === null || !Object.hasOwn(entry, field)) return undefined;
  return (entry as Readonly<Record<string, unknown>>)[field];
}

function nameOf(index: number, field: string, {length}: EntryShape): string {
  return `params[0][${index}]${length === undefined ? `.${field}` : `[${field}]`}`;
}

export const getMultiProof: LaneMethod<PackedCalls> = {
  ...getProof,
  name: "chain_getMultiProof",
  summary: "One proof for many accounts and slots at a finalized block. Every node stands in it once.",
  params: new ParamList(MULTI_PROOF_PARAMS),
  result: {name: "multiProof", schema: BYTES},
  cost: params => multiProofCost(params),
  /** At most two leaves per account or key, each with half the nodes of one of chain_getProof. Tries have no more. */
  maxTextBytes(cost, {maxProofTextBytes}) {
    return Math.ceil(((cost + 1) * maxProofTextBytes) / 2);
  },
  prepare(params, view, calls) {
    const {packed, end} = calls;
    const list = this.params.read(this, params);
    const hex = readIsTrie(list[2], 2, view) ? ProofForm.TRIE_MULTI_HEX : ProofForm.MULTI_HEX;
    const form = (view.takesBytes ? hex | AS_BYTES : hex) as ProofForm;
    calls.add(packMultiProofCall(list, form, view, packed, end), multiProofCost(params));
    calls.isBytes = view.takesBytes;
  },
};
