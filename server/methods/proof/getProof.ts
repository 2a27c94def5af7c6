import {ProofForm} from "../../../workers/job/packedCall.ts";
import {LaneId} from "../../request/requestCalls.ts";
import {RpcCode} from "../../rpc/rpcError.ts";
import type {LaneMethod} from "../method.ts";
import {ParamList} from "../params.ts";
import type {ProofCalls} from "./proofCalls.ts";
import {PROOF_PARAMS, packProofCall, proofCost} from "./proofParams.ts";
import {PROOF} from "./proofSchema.ts";

const NAME = "chain_getProof";

export const getProof: LaneMethod<ProofCalls> = {
  name: NAME,
  summary: "Proofs of existence or absence for an account and some of its slots, at a finalized block.",
  params: new ParamList(NAME, PROOF_PARAMS),
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
    calls.add(
      packProofCall(this.params.read(params), ProofForm.PLAIN, view, view.limits.storageKeys, packed, end),
    );
  },
};
