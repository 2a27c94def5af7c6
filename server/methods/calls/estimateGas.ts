import {ESTIMATE_COST, MAX_ESTIMATE_TEXT_BYTES} from "../../limits.ts";
import {RpcCode, RpcError} from "../../rpc/rpcError.ts";
import type {LaneMethod} from "../method.ts";
import type {PackedCalls} from "../packedCalls.ts";
import {ESTIMATE, ESTIMATE_PARAMS, parseEstimateCall} from "./estimateParams.ts";
import {ethCall} from "./ethCall.ts";

export const estimateGas: LaneMethod<PackedCalls> = {
  ...ethCall,
  name: "chain_estimateGas",
  summary: "The gas limit and the fees of a call, at a block in the store.",
  params: ESTIMATE_PARAMS,
  result: {name: "estimate", schema: ESTIMATE},
  maxTextBytes() {
    return MAX_ESTIMATE_TEXT_BYTES;
  },
  *prepare(params, view, calls) {
    const {name} = this;
    if (view.estimates.kind === "none") {
      const reason = "this node runs without the sequencer extension";
      throw new RpcError(RpcCode.NOT_AVAILABLE, `${name} is not available: ${reason}`);
    }
    const call = yield* parseEstimateCall(name, params, view);
    calls.putCall(Object.assign(call, {method: name}), ESTIMATE_COST);
  },
};
