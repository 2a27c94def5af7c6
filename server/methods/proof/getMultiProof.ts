/**
 * chain_getMultiProof: the bytes of one proof for many accounts and slots (docs/proofs.md, sections 9 and 17), in which every node stands
 * once. They come in hex, or alone if a client asks for bytes (`Accept: application/octet-stream`) in a request of one call.
 */
import {
  ADDRESS_AT,
  KEYS_AT,
  MAX_MULTI_KEYS,
  ProofForm,
  writeCallHead,
} from "../../../workers/messages/packedCall.ts";
import type {Call} from "../../rpc/envelope.ts";
import {createLimitError, createValueError, RpcCode, RpcError, shorten} from "../../rpc/rpcError.ts";
import type {LaneMethod} from "../method.ts";
import {type Param, ParamList} from "../params.ts";
import {ADDRESS_PARAM, arrayOf, BLOCK_PARAM, BYTES, objectOf, STORAGE_KEY_PARAM} from "../schema.ts";
import {type BlockView, resolveSelector} from "../selector.ts";
import {ADDRESS_EXPECTED, decodeAddressInto, decodeWordInto, WORD_BYTES, WORD_EXPECTED} from "../words.ts";
import {getProof} from "./getProof.ts";
import type {ProofCalls} from "./proofCalls.ts";
import {readIsTrie, SUITE_PARAM} from "./suiteParam.ts";

const ENTRY = objectOf({address: ADDRESS_PARAM, storageKeys: arrayOf(STORAGE_KEY_PARAM)});

export const MULTI_PROOF_PARAMS: readonly Param[] = [
  {name: "entries", required: true, schema: {...arrayOf(ENTRY), minItems: 1}},
  {name: "block", required: true, schema: BLOCK_PARAM},
  SUITE_PARAM,
];

const ENTRIES_NAME = "params[0] (entries)";
const BLOCK_NAME = "params[1] (block)";
const ENTRY_FIELDS = ["address", "storageKeys"];

/** Cost of a call: 1 for each entry and 1 for each key. 0 if its shape or its numbers will be refused. */
export function multiProofCost(params: Call["params"]): number {
  if (!Array.isArray(params)) return 0;
  const entries: unknown = params[0];
  if (!Array.isArray(entries) || entries.length > MAX_MULTI_KEYS) return 0;
  let cost = entries.length;
  for (const entry of entries) {
    const keys = keysOf(entry);
    if (keys === undefined) return 0;
    cost += keys.length;
  }
  return cost > MAX_MULTI_KEYS ? 0 : cost;
}

/**
 * Hot: its loops run once per entry and key.
 *
 * @param params - those of MULTI_PROOF_PARAMS
 * @param form - of the call's first entry
 * @param packed - output, from `start`: room for the call's cost (ProofCalls). Unspecified after an error
 * @returns the end of the packed call
 * @throws RpcError
 */
export function packMultiProofCall(
  params: readonly unknown[],
  form: ProofForm,
  view: BlockView,
  packed: Buffer,
  start: number,
): number {
  const [entries, selector] = params;
  if (!Array.isArray(entries) || entries.length === 0)
    throw createValueError(ENTRIES_NAME, entries, "an array of one or more {address, storageKeys}");
  requireEntries(entries);
  const block = resolveSelector(selector, BLOCK_NAME, "provable", view);
  let at = start;
  for (let index = 0; index < entries.length; index++) {
    const {address, storageKeys} = entries[index] as {address: unknown; storageKeys: readonly unknown[]};
    writeCallHead(packed, at, block, storageKeys.length, index === 0 ? form : ProofForm.NEXT_ENTRY);
    if (!decodeAddressInto(address, packed, at + ADDRESS_AT))
      throw createValueError(`params[0][${index}].address`, address, ADDRESS_EXPECTED);
    at += KEYS_AT;
    for (let key = 0; key < storageKeys.length; key++) {
      if (!decodeWordInto(storageKeys[key], packed, at))
        throw createValueError(`params[0][${index}].storageKeys[${key}]`, storageKeys[key], WORD_EXPECTED);
      at += WORD_BYTES;
    }
  }
  return at;
}

/** Checks the shape of all entries, and how many accounts and keys they have. @throws RpcError */
function requireEntries(entries: readonly unknown[]): void {
  let count = entries.length;
  requireCount(count);
  for (let index = 0; index < entries.length; index++) {
    const entry: unknown = entries[index];
    const name = `params[0][${index}]`;
    if (typeof entry !== "object" || entry === null || Array.isArray(entry))
      throw createValueError(name, entry, "{address, storageKeys}");
    const other = Object.keys(entry).find(field => !ENTRY_FIELDS.includes(field));
    if (other !== undefined) {
      const message = `${name}: expected only address and storageKeys, got ${shorten(other)}`;
      throw new RpcError(RpcCode.INVALID_PARAMS, message);
    }
    const keys = keysOf(entry);
    if (keys === undefined) {
      const came = Object.hasOwn(entry, "storageKeys")
        ? (entry as {storageKeys: unknown}).storageKeys
        : undefined;
      throw createValueError(`${name}.storageKeys`, came, "an array of storage keys ([] for no keys)");
    }
    count += keys.length;
  }
  requireCount(count);
}

function requireCount(count: number): void {
  if (count > MAX_MULTI_KEYS)
    throw createLimitError(ENTRIES_NAME, MAX_MULTI_KEYS, count, "accounts and storage keys");
}

function keysOf(entry: unknown): readonly unknown[] | undefined {
  if (typeof entry !== "object" || entry === null || !Object.hasOwn(entry, "storageKeys")) return undefined;
  const {storageKeys} = entry as {storageKeys: unknown};
  return Array.isArray(storageKeys) ? storageKeys : undefined;
}

const NAME = "chain_getMultiProof";
const TREE_FORMS = [ProofForm.MULTI_HEX, ProofForm.MULTI_BYTES] as const;
const TRIE_FORMS = [ProofForm.TRIE_MULTI_HEX, ProofForm.TRIE_MULTI_BYTES] as const;

export const getMultiProof: LaneMethod<ProofCalls> = {
  ...getProof,
  name: NAME,
  summary: "One proof for many accounts and slots at a finalized block. Every node stands in it once.",
  params: new ParamList(NAME, MULTI_PROOF_PARAMS),
  result: {name: "multiProof", schema: BYTES},
  cost: multiProofCost,
  /**
   * At most two leaves per account or key, each with the half of a leaf of chain_getProof: one of the two nodes that it has for a height.
   * Of Ethereum's trie, the path of one key is as long as there at most, and several share the branches near the root.
   */
  maxTextBytes(cost, {maxProofTextBytes}) {
    return Math.ceil(((cost + 1) * maxProofTextBytes) / 2);
  },
  prepare(params, view, calls) {
    const {packed, end} = calls;
    const list = this.params.read(params);
    const [hex, bytes] = readIsTrie(list[2], 2, view) ? TRIE_FORMS : TREE_FORMS;
    const form = view.takesBytes ? bytes : hex;
    calls.add(packMultiProofCall(list, form, view, packed, end), multiProofCost(params));
    calls.isBytes = view.takesBytes;
  },
};
