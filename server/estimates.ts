/** Where chain_estimateGas is answered: on a thread of ours, by an upstream, or not at all. */
import type {Answers, EstimateJob} from "../workers/job.ts";
import {type LaneOptions, TASKS_PER_WORKER} from "./dispatch/lane.ts";
import type {RunEstimate} from "./dispatch/requestCalls.ts";
import {runEstimate} from "./dispatch/task.ts";
import {type Gateway, MAX_CONNECTIONS} from "./gateway/gateway.ts";
import {ESTIMATE_COST, MAX_ESTIMATE_TEXT_BYTES} from "./limits.ts";
import type {Call} from "./rpc/envelope.ts";
import {ESTIMATE_PARAMS, parseEstimateCall} from "./rpc/estimateParams.ts";
import {requireExactNumbers} from "./rpc/exactNumbers.ts";
import {requireArray, type ServiceView} from "./rpc/methods.ts";
import {RpcCode, RpcError} from "./rpc/rpcError.ts";

export type Estimates =
  | {
      readonly kind: "here";
      /** Gas. */
      readonly gasCap: number;
      readonly workers: number;
      readonly estimate: (job: EstimateJob) => Promise<Answers>;
    }
  | {readonly kind: "gateway"; readonly gateway: Gateway}
  | {readonly kind: "none"};

/**
 * Checks a call's parameters as far as it can be done before its turn.
 *
 * @throws RpcError NOT_AVAILABLE, INVALID_PARAMS, and those of the selector
 */
export function prepareEstimate(estimates: Estimates, call: Call, view: ServiceView): RunEstimate {
  switch (estimates.kind) {
    case "here": {
      const {estimate, gasCap} = estimates;
      const parsed = parseEstimateCall(requireArray(call, ESTIMATE_PARAMS), {...view, gasCap});
      return idText => estimate({calls: [parsed], ids: [idText]});
    }
    case "gateway": {
      // The upstream knows its own rules; only what has lost its value on the way is refused.
      const params = requireArray(call, ESTIMATE_PARAMS);
      requireExactNumbers(params, "params");
      const paramsText = JSON.stringify(params);
      return idText => estimates.gateway.estimate(paramsText, idText);
    }
    case "none": {
      const reason = "this node runs without the sequencer extension";
      throw new RpcError(RpcCode.NOT_AVAILABLE, `chain_estimateGas is not available: ${reason}`);
    }
  }
}

export function createEstimateLane(estimates: Estimates): LaneOptions {
  return {
    ...countTasks(estimates),
    bytesPerCost: MAX_ESTIMATE_TEXT_BYTES / ESTIMATE_COST,
    perform: runEstimate,
  };
}

function countTasks(estimates: Estimates): Pick<LaneOptions, "workers" | "maxTasks"> {
  switch (estimates.kind) {
    case "here":
      return {workers: estimates.workers, maxTasks: estimates.workers * TASKS_PER_WORKER};
    case "gateway":
      // More would wait in the gateway's own queue, on time that the upstream is to have.
      return {workers: MAX_CONNECTIONS, maxTasks: MAX_CONNECTIONS};
    case "none":
      return {workers: 1, maxTasks: 1};
  }
}
