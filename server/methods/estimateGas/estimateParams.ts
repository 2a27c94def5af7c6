/**
 * The parameters of chain_estimateGas: [call], [call, block], [call, block, overrides] or [call, overrides]. null is
 * "left out", the block left out is the newest one held.
 */
import type {EstimateCall} from "../../../workers/job/estimateCall.ts";
import {encodeQuantity} from "../../rpc/quantity.ts";
import {RpcCode, RpcError} from "../../rpc/rpcError.ts";
import {type BlockView, resolveSelector} from "../selector.ts";
import {type CallRules, parseCallFields} from "./callFields.ts";
import {parseOverrides} from "./callOverrides.ts";

export const ESTIMATE_PARAMS = "[call, block, overrides]";

const MAX_PARAMS = 3;
/** At most 76 digits: every such number has a place in the 64 digits of a hex quantity. */
const DECIMAL = /^[0-9]{1,76}$/;

export interface EstimateView extends BlockView, CallRules {}

/** @throws RpcError INVALID_PARAMS, BLOCK_UNKNOWN, NOT_FINALIZED */
export function parseEstimateCall(params: readonly unknown[], view: EstimateView): EstimateCall {
  if (params.length > MAX_PARAMS) {
    const message = `params has ${params.length} elements: expected ${ESTIMATE_PARAMS}`;
    throw new RpcError(RpcCode.INVALID_PARAMS, message);
  }
  const [call, second = null, third = null] = params;
  if (call === undefined || call === null) {
    const message = `params[0] (call) is missing: expected ${ESTIMATE_PARAMS}, the call required`;
    throw new RpcError(RpcCode.INVALID_PARAMS, message);
  }
  const isShifted = third === null && isKeyedByAddress(second);
  const overrides = isShifted ? second : third;
  return {
    ...parseCallFields(call, "params[0]", view),
    ...(overrides === null
      ? {}
      : {overrides: parseOverrides(overrides, isShifted ? "params[1]" : "params[2]")}),
    block: resolveBlock(isShifted ? null : second, view),
  };
}

/** Overrides in the second place: an object that is no block selector of EIP-1898. */
function isKeyedByAddress(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return !Object.hasOwn(value, "blockNumber") && !Object.hasOwn(value, "blockHash");
}

/** A block number in decimal is taken here too, though not where a proof is asked for. */
function resolveBlock(block: unknown, view: BlockView): number {
  const isDecimal = typeof block === "string" && DECIMAL.test(block);
  const selector = isDecimal ? encodeQuantity(BigInt(block)) : (block ?? "latest");
  return resolveSelector(selector, "params[1] (block)", "held", view);
}
