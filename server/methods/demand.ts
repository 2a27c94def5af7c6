/** Measures what one request demands of the lanes, from the shape of its calls only. Refuses a request that demands too much. */

import type {Work} from "../fairness/work.ts";
import {ESTIMATE_COST, WITNESS_COST} from "../limits.ts";
import {append, type ByLane, LANE_IDS} from "../request/requestCalls.ts";
import type {Call} from "../rpc/envelope.ts";
import {createLimitError, type RpcError} from "../rpc/rpcError.ts";
import type {Method, RequestView} from "./method.ts";
import type {Methods} from "./table.ts";

export interface Demand {
  readonly costs: ByLane<number>;
  readonly readyCost: number;
  /** The method of each lane's first call, or "". A refusal is counted under this method. */
  readonly methods: ByLane<string>;
  readonly responseBytes: number;
  /** Who answers each call. Finding that out may read the store. undefined: there is no such method, or nothing to answer */
  readonly answeredBy: readonly (Method | undefined)[];
}

/** Upper bound of the text around a call's result, without its id. */
const CALL_TEXT_BYTES = 256;
/** A character of a JSON string takes at most 3 bytes of UTF-8 (a pair of surrogates takes 4). */
const MAX_BYTES_PER_CHARACTER = 3;

/** Measuring a call that costs so much takes a while, as reading its shape does. */
const PART_COST = 100;

export function* measureDemand(calls: readonly Call[], table: Methods, view: RequestView): Work<Demand> {
  const costs: [number, number, number] = [0, 0, 0];
  const methods: [string, string, string] = ["", "", ""];
  let readyCost = 0;
  let responseBytes = 0;
  let answeredBy: (Method | undefined)[] = [];
  for (const {error, idText, method: name, params} of calls) {
    const named = error === undefined && idText !== undefined ? table.find(name) : undefined;
    const method = named?.forwardedTo?.(params, view) ?? named;
    answeredBy = append(answeredBy, method);
    if (method === undefined || idText === undefined) continue;
    const cost = method.cost(params, view);
    if (cost === 0) continue;
    if (cost > PART_COST) yield;
    if (method.lane === undefined) {
      readyCost += cost;
      continue;
    }
    if (costs[method.lane] === 0) methods[method.lane] = name;
    costs[method.lane] += cost;
    responseBytes +=
      CALL_TEXT_BYTES + idText.length * MAX_BYTES_PER_CHARACTER + method.maxTextBytes(cost, view, params);
  }
  return {costs, readyCost, methods, responseBytes, answeredBy};
}

/** @returns the error and the method that it is counted under if the request is above a limit, or undefined. A retry would not help */
export function refuseExcess(
  {costs, readyCost, methods, responseBytes: got}: Demand,
  {limits}: RequestView,
): {readonly error: RpcError; readonly method: string} | undefined {
  const {requestCost, responseBytes} = limits;
  let cost = readyCost;
  for (const lane of LANE_IDS) cost += costs[lane];
  const method = methods.find(name => name !== "") ?? "";
  if (cost > requestCost) {
    const unit = `units of cost (an account or storage key 1, an estimate or call ${ESTIMATE_COST}, proof_call ${WITNESS_COST}; docs/json-rpc.md has all costs)`;
    return {error: createLimitError("a request", requestCost, cost, unit), method};
  }
  if (got > responseBytes)
    return {error: createLimitError("a response", responseBytes, got, "bytes"), method};
  return undefined;
}
