/** eth_call: runs a call at a finalized block, as geth answers. */
import type {EstimateCall} from "../../../workers/messages/estimateCall.ts";
import type {Work} from "../../fairness/work.ts";
import {ESTIMATE_COST, MAX_CALL_TEXT_BYTES} from "../../limits.ts";
import {LaneId} from "../../request/requestCalls.ts";
import type {Call} from "../../rpc/envelope.ts";
import {RpcCode, RpcError} from "../../rpc/rpcError.ts";
import type {LaneMethod, RequestView} from "../method.ts";
import type {PackedCalls} from "../packedCalls.ts";
import {ParamList} from "../params.ts";
import {BLOCK_PARAM, BYTES, nullable} from "../schema.ts";
import {resolveSelector} from "../selector.ts";
import {parseBlockOverrides} from "./blockOverrides.ts";
import {callCost} from "./callCost.ts";
import {parseCallFields} from "./callFields.ts";
import {parseOverrides} from "./callOverrides.ts";
import {BLOCK_OVERRIDES_PARAM, CALL_PARAM, OVERRIDES_PARAM} from "./callSchemas.ts";

export const ethCall: LaneMethod<PackedCalls> = {
  name: "eth_call",
  summary: "What a call returns at a finalized block.",
  params: new ParamList([
    {name: "call", required: true, schema: CALL_PARAM},
    {name: "block", required: false, schema: nullable(BLOCK_PARAM)},
    {name: "stateOverrides", required: false, schema: nullable(OVERRIDES_PARAM)},
    {name: "blockOverrides", required: false, schema: nullable(BLOCK_OVERRIDES_PARAM)},
  ]),
  result: {name: "returned", schema: BYTES},
  errors: [
    RpcCode.BLOCK_UNKNOWN, // and RULES_UNKNOWN
    RpcCode.NOT_FINALIZED,
    RpcCode.NOT_AVAILABLE,
    RpcCode.EXECUTION_REVERTED,
    RpcCode.EXECUTION_FAILED,
  ],
  lane: LaneId.ESTIMATE,
  cost(params, {estimates}) {
    return estimates.kind === "here" && Array.isArray(params) ? callCost(params) : 0;
  },
  maxTextBytes() {
    return MAX_CALL_TEXT_BYTES;
  },
  *prepare(params, view, calls) {
    calls.putCall(yield* parseCall(this, params, view, "block"), ESTIMATE_COST);
  },
};

/** @param blockName - the method's name of the second parameter. @throws RpcError */
export function* parseCall(
  method: LaneMethod<PackedCalls>,
  params: Call["params"],
  view: RequestView,
  blockName: string,
): Work<EstimateCall> {
  const {name} = method;
  if (view.estimates.kind === "none") {
    const reason = "this server has no threads that run calls (--estimate-workers 0)";
    throw new RpcError(RpcCode.NOT_AVAILABLE, `${name} is not available: ${reason}`);
  }
  const [call, block = null, overrides = null, blockOverrides = null] = method.params.read(method, params);
  const fields = yield* parseCallFields(call, "params[0]", view.chain.chainId);
  return Object.assign(fields, {
    kind: "call",
    method: name,
    block: resolveSelector(block ?? "latest", `params[1] (${blockName})`, "provable", view),
    overrides: overrides === null ? undefined : yield* parseOverrides(overrides, "params[2]"),
    blockOverrides: blockOverrides === null ? undefined : parseBlockOverrides(blockOverrides, "params[3]"),
  } as const);
}
