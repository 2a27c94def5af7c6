/**
 * The parameters of chain_estimateGas: [call], [call, block], [call, block, overrides] or [call, overrides]. null means
 * that a parameter is left out. The default block is the newest one held.
 */
import type {EstimateCall} from "../../../workers/messages/estimateCall.ts";
import type {Call} from "../../rpc/envelope.ts";
import {encodeQuantity} from "../../rpc/quantity.ts";
import {ParamList} from "../params.ts";
import {BLOCK_PARAM, nullable} from "../schema.ts";
import {type BlockView, resolveSelector} from "../selector.ts";
import {type CallRules, parseCallFields} from "./callFields.ts";
import {parseOverrides} from "./callOverrides.ts";
import {CALL_PARAM, OVERRIDES_PARAM} from "./estimateSchema.ts";

/** At most 76 digits, because every such number fits into the 64 digits of a hex quantity. */
const DECIMAL = /^[0-9]{1,76}$/;

const BLOCK_OR_OVERRIDES = {
  anyOf: [BLOCK_PARAM, {title: "block number", type: "string", pattern: DECIMAL.source}, OVERRIDES_PARAM],
};

/** @param method - whose parameters they are */
export function createEstimateParams(method: string): ParamList {
  return new ParamList(method, [
    {name: "call", required: true, schema: CALL_PARAM},
    {name: "block", required: false, schema: nullable(BLOCK_OR_OVERRIDES)},
    {name: "overrides", required: false, schema: nullable(OVERRIDES_PARAM)},
  ]);
}

export const ESTIMATE_PARAMS = createEstimateParams("chain_estimateGas");

export interface EstimateView extends BlockView, CallRules {}

/** @throws RpcError INVALID_PARAMS, BLOCK_UNKNOWN, NOT_FINALIZED */
export function parseEstimateCall(params: Call["params"], view: EstimateView): EstimateCall {
  const [call, second = null, third = null] = ESTIMATE_PARAMS.read(params);
  if (call === null) throw ESTIMATE_PARAMS.createMissingError(0);
  const isShifted = third === null && isKeyedByAddress(second);
  const overrides = isShifted ? second : third;
  return {
    ...parseCallFields(call, "params[0]", view),
    ...(overrides === null
      ? {}
      : {overrides: parseOverrides(overrides, isShifted ? "params[1]" : "params[2]")}),
    ...resolveBlock(isShifted ? null : second, view),
  };
}

/** Whether the second parameter is overrides: an object that is not a block selector of EIP-1898. */
function isKeyedByAddress(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return !Object.hasOwn(value, "blockNumber") && !Object.hasOwn(value, "blockHash");
}

/** Also takes a block number in decimal, which the methods for proofs refuse. */
function resolveBlock(block: unknown, view: BlockView): Pick<EstimateCall, "block" | "isLatest"> {
  const isDecimal = typeof block === "string" && DECIMAL.test(block);
  const selector = isDecimal ? encodeQuantity(BigInt(block)) : (block ?? "latest");
  const isLatest = selector === "latest" || selector === "pending";
  return {
    block: resolveSelector(selector, "params[1] (block)", "held", view),
    ...(isLatest ? {isLatest} : {}),
  };
}
