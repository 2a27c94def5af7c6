import {ESTIMATE_COST, MAX_ESTIMATE_TEXT_BYTES} from "../../limits.ts";
import {LaneId} from "../../request/requestCalls.ts";
import {requireExactValues} from "../../rpc/exactValues.ts";
import {RpcCode, RpcError} from "../../rpc/rpcError.ts";
import type {LaneMethod} from "../method.ts";
import type {EstimateCalls} from "./estimateCalls.ts";
import {ESTIMATE, ESTIMATE_PARAMS, parseEstimateCall} from "./estimateParams.ts";

export const estimateGas: LaneMethod<EstimateCalls> = {
  name: "chain_estimateGas",
  summary: "The gas limit and the fees of a call, at a block in the store.",
  params: ESTIMATE_PARAMS,
  result: {name: "estimate", schema: ESTIMATE},
  errors: [
    RpcCode.BLOCK_UNKNOWN, // and RULES_UNKNOWN
    RpcCode.NOT_FINALIZED,
    RpcCode.NOT_AVAILABLE,
    RpcCode.EXECUTION_REVERTED,
    RpcCode.EXECUTION_FAILED,
  ],
  lane: LaneId.ESTIMATE,
  cost(params, {estimates}) {
    return estimates.kind === "none" || !Array.isArray(params) ? 0 : estimateCost(params);
  },
  maxTextBytes() {
    return MAX_ESTIMATE_TEXT_BYTES;
  },
  *prepare(params, view, calls) {
    const {name} = this;
    const {estimates} = view;
    if (estimates.kind === "none") {
      const reason = "this node runs without the sequencer extension";
      throw new RpcError(RpcCode.NOT_AVAILABLE, `${name} is not available: ${reason}`);
    }
    const list = this.params.requireArray(params);
    if (estimates.kind === "here") {
      calls.prepared.push(yield* parseEstimateCall(list, view));
      return;
    }
    // The upstream has its own rules. Only values that JSON.parse may have changed are refused here.
    requireExactValues(list, "params");
    const paramsText = JSON.stringify(list);
    calls.prepared.push(idText => estimates.gateway.forward(name, paramsText, idText));
  },
};

/** A slot has a key and a value. Parsing both takes 2 us, three times as long as a storage key. */
const SLOT_COST = 2;

/** Takes params of any shape. Parts of the wrong shape cost nothing here and are refused when they are parsed. */
function estimateCost(params: readonly unknown[]): number {
  const [call, ...others] = params;
  let cost = ESTIMATE_COST;
  if (isObject(call)) cost += countAccessList(call.accessList) + countEntries(call.authorizationList);
  for (const other of others) cost += countOverrides(other);
  return cost;
}

function countAccessList(list: unknown): number {
  if (!Array.isArray(list)) return 0;
  let entries = list.length;
  for (const entry of list) if (isObject(entry)) entries += countEntries(entry.storageKeys);
  return entries;
}

function countOverrides(overrides: unknown): number {
  if (!isObject(overrides)) return 0;
  let cost = 0;
  for (const account of Object.values(overrides)) {
    cost++;
    if (!isObject(account)) continue;
    for (const slots of [account.state, account.stateDiff])
      if (isObject(slots)) cost += SLOT_COST * Object.keys(slots).length;
  }
  return cost;
}

function countEntries(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
