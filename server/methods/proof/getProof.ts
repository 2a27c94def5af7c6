import {ProofForm} from "../../../workers/messages/packedCall.ts";
import {LaneId} from "../../rpc/requestCalls.ts";
import {RpcCode} from "../../rpc/rpcError.ts";
import type {LaneMethod} from "../method.ts";
import {ParamList} from "../params.ts";
import {BLOCK, objectOf} from "../schema.ts";
import type {ProofCalls} from "./proofCalls.ts";
import {PROOF_PARAMS, packProofCall, proofCost} from "./proofParams.ts";
import {PROOF} from "./proofSchema.ts";

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
