import {ADDRESS_AT, KEYS_AT, ProofForm, writeCallHead} from "../../../workers/messages/packedCall.ts";
import type {Call} from "../../rpc/envelope.ts";
import {LaneId} from "../../rpc/requestCalls.ts";
import {createLimitError, createValueError, RpcCode} from "../../rpc/rpcError.ts";
import type {LaneMethod} from "../method.ts";
import {type Param, ParamList} from "../params.ts";
import {
  ADDRESS_PARAM,
  arrayOf,
  BLOCK,
  BLOCK_PARAM,
  BYTES,
  HASH,
  objectOf,
  type Schema,
  STORAGE_KEY_PARAM,
} from "../schema.ts";
import {type BlockView, resolveSelector} from "../selector.ts";
import {ADDRESS_EXPECTED, decodeAddressInto, decodeWordInto, WORD_BYTES, WORD_EXPECTED} from "../words.ts";
import type {ProofCalls} from "./proofCalls.ts";

export const PROOF_PARAMS: readonly Param[] = [
  {name: "address", required: true, schema: ADDRESS_PARAM},
  {name: "storageKeys", required: true, schema: arrayOf(STORAGE_KEY_PARAM)},
  {name: "block", required: true, schema: BLOCK_PARAM},
];

const BLOCK_NAME = "params[2] (block)";

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
  const number = resolveSelector(params[2], BLOCK_NAME, "provable", view);
  writeCallHead(packed, start, number, keys.length, form);
  return at;
}

/** Proof of a leaf: its value, and the nodes from the root down to it. */
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

const PROOF = objectOf({
  accountProof: proofOf({title: "address", type: "string", pattern: "^0x[0-9a-f]{40}$"}),
  storageProofs: arrayOf(proofOf(HASH)),
});

/** Upper bound of the text that chain_getProofAt adds to a proof: the block's number, hash and state root, and that it is unverified. */
const BLOCK_TEXT_BYTES = 256;

export const getProof = createProofMethod(
  "chain_getProof",
  "Proofs of existence or absence for an account and some of its slots, at a finalized block.",
  ProofForm.PLAIN,
);

export const getProofAt: LaneMethod<ProofCalls> = {
  ...createProofMethod(
    "chain_getProofAt",
    "The result of chain_getProof, the block that it proves, and whether that is unverified: no root vouches for its state.",
    ProofForm.WITH_BLOCK,
  ),
  result: {name: "provenBlock", schema: objectOf({block: BLOCK, proof: PROOF}, {unverified: {const: true}})},
  maxTextBytes(cost, view) {
    return getProof.maxTextBytes(cost, view) + BLOCK_TEXT_BYTES;
  },
};

/** Makes a method with the parameters of chain_getProof, whose answers have the form `form`. */
export function createProofMethod(name: string, summary: string, form: ProofForm): LaneMethod<ProofCalls> {
  return {
    name,
    summary,
    params: new ParamList(name, PROOF_PARAMS),
    result: {name: "proof", schema: PROOF},
    errors: [RpcCode.BLOCK_UNKNOWN, RpcCode.NOT_FINALIZED],
    lane: LaneId.PROOF,
    cost(params, {limits}) {
      return proofCost(params, limits.storageKeys);
    },
    maxTextBytes(cost, {maxProofTextBytes}) {
      return cost * maxProofTextBytes;
    },
    prepare(params, view, calls) {
      const {packed, end} = calls;
      const list = this.params.read(params);
      calls.add(packProofCall(list, form, view, view.limits.storageKeys, packed, end));
    },
  };
}
