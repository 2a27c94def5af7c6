import {ADDRESS_AT, KEYS_AT, ProofForm, writeCallHead} from "../../../workers/messages/packedCall.ts";
import {LaneId} from "../../request/requestCalls.ts";
import type {Call} from "../../rpc/envelope.ts";
import {createLimitError, createValueError, RpcCode} from "../../rpc/rpcError.ts";
import type {LaneMethod, RequestView} from "../method.ts";
import type {PackedCalls} from "../packedCalls.ts";
import {type Param, ParamList} from "../params.ts";
import {
  ADDRESS_PARAM,
  arrayOf,
  BLOCK_PARAM,
  BYTES,
  HASH,
  objectOf,
  type Schema,
  STORAGE_KEY_PARAM,
} from "../schema.ts";
import {type BlockView, resolveSelector} from "../selector.ts";
import {decodeEthWordInto, decodeWordInto, requireAddressInto, WORD_BYTES, WORD_EXPECTED} from "../words.ts";

export const PROOF_PARAMS: readonly Param[] = [
  {name: "address", required: true, schema: ADDRESS_PARAM},
  {name: "storageKeys", required: true, schema: arrayOf(STORAGE_KEY_PARAM)},
  {name: "block", required: true, schema: BLOCK_PARAM},
];

const BLOCK_NAME = "params[2] (block)";
export const KEYS_EXPECTED = "an array of storage keys ([] for no keys)";

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
 * @returns the end of the packed call. @throws RpcError
 */
export function packProofCall(
  params: readonly unknown[],
  form: ProofForm,
  view: BlockView,
  maxKeys: number,
  packed: Buffer,
  start: number,
): number {
  const keys = params[1];
  if (!Array.isArray(keys)) throw createValueError("params[1] (storageKeys)", keys, KEYS_EXPECTED);
  if (keys.length > maxKeys) throw createLimitError("params[1] (storageKeys)", maxKeys, keys.length, "keys");
  requireAddressInto(params[0], "params[0] (address)", packed, start + ADDRESS_AT);
  const decode = form === ProofForm.ETH ? decodeEthWordInto : decodeWordInto;
  let at = start + KEYS_AT;
  for (let index = 0; index < keys.length; index++) {
    const key: unknown = keys[index];
    if (!decode(key, packed, at))
      throw createValueError(`params[1][${index}] (storage key)`, key, WORD_EXPECTED);
    at += WORD_BYTES;
  }
  const number = resolveSelector(params[2], BLOCK_NAME, "provable", view);
  writeCallHead(packed, start, number, keys.length, form);
  return at;
}

const LEAF_PROOF = objectOf({
  value: BYTES,
  proofRelatedNodes: {...arrayOf(BYTES), minItems: 42, maxItems: 42},
});
const LEAF_INDEX = {type: "integer", minimum: 0, maximum: 2 ** 40 - 1};

function proofOf(key: Schema): Schema {
  const existence = objectOf({key, leafIndex: LEAF_INDEX, proof: LEAF_PROOF});
  const absence = objectOf({
    key,
    leftLeafIndex: LEAF_INDEX,
    leftProof: LEAF_PROOF,
    rightLeafIndex: LEAF_INDEX,
    rightProof: LEAF_PROOF,
  });
  return {oneOf: [existence, absence]};
}

export const PROOF = objectOf({
  accountProof: proofOf({title: "address", type: "string", pattern: "^0x[0-9a-f]{40}$"}),
  storageProofs: arrayOf(proofOf(HASH)),
});

export const getProof = createProofMethod(
  "chain_getProof",
  "Proofs of existence or absence for an account and some of its slots, at a finalized block.",
  ProofForm.PLAIN,
);

/** Makes a method with the parameters of chain_getProof, whose answers have the form `form`. */
export function createProofMethod(name: string, summary: string, form: ProofForm): LaneMethod<PackedCalls> {
  return {
    name,
    summary,
    params: new ParamList(PROOF_PARAMS),
    result: {name: "proof", schema: PROOF},
    errors: [RpcCode.BLOCK_UNKNOWN, RpcCode.NOT_FINALIZED, RpcCode.NOT_AVAILABLE],
    lane: LaneId.PROOF,
    cost(params, {limits}) {
      return proofCost(params, limits.storageKeys);
    },
    maxTextBytes(cost, {maxProofTextBytes}) {
      return cost * maxProofTextBytes;
    },
    prepare(params, view, calls) {
      addCall(this.params.read(this, params), form, view, calls);
    },
  };
}

/** @param params - at least those of PROOF_PARAMS. @throws RpcError */
export function addCall(
  params: readonly unknown[],
  form: ProofForm,
  view: RequestView,
  calls: PackedCalls,
): void {
  calls.add(packProofCall(params, form, view, view.limits.storageKeys, calls.packed, calls.end));
}
