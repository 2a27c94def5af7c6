/**
 * Packs the parameters of chain_getProof and its relatives, [address, storageKeys, block], into the form of
 * workers/messages/packedCall.ts.
 */
import {ADDRESS_AT, KEYS_AT, type ProofForm, writeCallHead} from "../../../workers/messages/packedCall.ts";
import type {Call} from "../../rpc/envelope.ts";
import {createLimitError, createValueError} from "../../rpc/rpcError.ts";
import type {Param} from "../params.ts";
import {ADDRESS_PARAM, arrayOf, BLOCK_PARAM, STORAGE_KEY_PARAM} from "../schema.ts";
import {type BlockView, resolveSelector} from "../selector.ts";
import {ADDRESS_EXPECTED, decodeAddressInto, decodeWordInto, WORD_BYTES, WORD_EXPECTED} from "../words.ts";

export const PROOF_PARAMS: readonly Param[] = [
  {name: "address", required: true, schema: ADDRESS_PARAM},
  {name: "storageKeys", required: true, schema: arrayOf(STORAGE_KEY_PARAM)},
  {name: "block", required: true, schema: BLOCK_PARAM},
];

export const BLOCK_NAME = "params[2] (block)";

/** Cost of a call: 1, plus 1 for each key. 0 if its shape or number of keys will be refused. */
export function proofCost(params: Call["params"], maxKeys: number): number {
  if (!Array.isArray(params)) return 0;
  const keys: unknown = params[1];
  return Array.isArray(keys) && keys.length <= maxKeys ? 1 + keys.length : 0;
}

/**
 * Hot: runs once per call and allocates nothing.
 *
 * @param params - at least those of PROOF_PARAMS
 * @param packed - output, `packedBytes(params[1].length)` bytes from `start`. Unspecified after an error
 * @returns the end of the packed call
 * @throws RpcError
 */
export function packProofCall(
  params: readonly unknown[],
  form: ProofForm,
  view: BlockView,
  maxKeys: number,
  packed: Buffer,
  start: number,
): number {
  const end = packTarget(params, maxKeys, packed, start);
  const number = resolveSelector(params[2], BLOCK_NAME, "provable", view);
  writeCallHead(packed, start, number, (params[1] as readonly unknown[]).length, form);
  return end;
}

/**
 * Packs the address and the storage keys.
 *
 * @param params, packed, start - those of `packProofCall`
 * @returns the end of the packed call
 * @throws RpcError
 */
function packTarget(params: readonly unknown[], maxKeys: number, packed: Buffer, start: number): number {
  const keys = params[1];
  if (!Array.isArray(keys))
    throw createValueError("params[1] (storageKeys)", keys, "an array of storage keys ([] for no keys)");
  if (keys.length > maxKeys) throw createLimitError("params[1] (storageKeys)", maxKeys, keys.length, "keys");
  if (!decodeAddressInto(params[0], packed, start + ADDRESS_AT))
    throw createValueError("params[0] (address)", params[0], ADDRESS_EXPECTED);
  let at = start + KEYS_AT;
  for (let index = 0; index < keys.length; index++) {
    const key: unknown = keys[index];
    if (!decodeWordInto(key, packed, at))
      throw createValueError(`params[1][${index}] (storage key)`, key, WORD_EXPECTED);
    at += WORD_BYTES;
  }
  return at;
}
