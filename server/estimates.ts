/** Where chain_estimateGas is answered: on a thread of ours, by an upstream, or not at all. */
import type {EstimateAnswers, EstimateJob} from "../workers/job/estimateJob.ts";
import {JOB_MS, SLICES} from "../workers/job/estimateSlices.ts";
import {countLongWorkers} from "../workers/pool/estimateThreads.ts";
import {type LaneOptions, TASKS_PER_WORKER} from "./dispatch/lane.ts";
import type {LongCallOptions} from "./dispatch/longCalls.ts";
import type {PreparedEstimate} from "./dispatch/requestCalls.ts";
import {collectEstimates, runEstimate} from "./dispatch/task.ts";
import {type Gateway, MAX_CONNECTIONS} from "./gateway/gateway.ts";
import {ESTIMATE_COST, MAX_ESTIMATE_TEXT_BYTES} from "./limits.ts";
import {ESTIMATE_PARAMS, parseEstimateCall} from "./methods/estimateGas/estimateParams.ts";
import {requireArray, type ServiceView} from "./methods/methods.ts";
import type {Call} from "./rpc/envelope.ts";
import {requireExactValues} from "./rpc/exactValues.ts";
import {RpcCode, RpcError} from "./rpc/rpcError.ts";

/**
 * Transfers take 0.1 to 0.2 ms, so that as many are begun in a job's time (JOB_MS); a trip to a thread and back takes 0.1 to 0.2
 * ms too, which they share. One more than is begun costs its way there and back, 10 us: so many of ERC-20 transfers were a tenth
 * of their time, which TASK_MS avoids.
 */
const ESTIMATES_PER_TASK = 16;
const TASK_MS = 2 * JOB_MS;

export type Estimates =
  | {
      readonly kind: "here";
      /** Gas. */
      readonly gasCap: number;
      /** Threads for calls with a slice. */
      readonly workers: number;
      /** Of one call. */
      readonly timeMs: number;
      readonly estimate: (job: EstimateJob) => Promise<EstimateAnswers>;
    }
  | {readonly kind: "gateway"; readonly gateway: Gateway}
  | {readonly kind: "none"};

/**
 * Checks a call's parameters as far as it can be done before its turn.
 *
 * @throws RpcError NOT_AVAILABLE, INVALID_PARAMS, and those of the selector
 */
export function prepareEstimate(estimates: Estimates, call: Call, view: ServiceView): PreparedEstimate {
  switch (estimates.kind) {
    case "here": {
      const {gasCap} = estimates;
      return parseEstimateCall(requireArray(call, ESTIMATE_PARAMS), {...view, gasCap});
    }
    case "gateway": {
      // The upstream knows its own rules; only what has lost its value on the way is refused.
      const params = requireArray(call, ESTIMATE_PARAMS);
      requireExactValues(params, "params");
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
    ...createTaskOptions(estimates),
    bytesPerCost: MAX_ESTIMATE_TEXT_BYTES / ESTIMATE_COST,
    taskMs: TASK_MS,
    isSharedByClients: true,
  };
}

/** @returns null where estimates have no slices: whoever makes them elsewhere has bounds of its own */
export function createLongCalls(estimates: Estimates): LongCallOptions | null {
  if (estimates.kind !== "here") return null;
  const {workers, timeMs, estimate} = estimates;
  return {
    second: {
      workers,
      sliceMs: SLICES.second.ms,
      perform: task => estimate(collectEstimates(task, "second")),
    },
    long: {
      workers: countLongWorkers(workers),
      sliceMs: timeMs,
      perform: task => estimate(collectEstimates(task, null)),
    },
  };
}

function createTaskOptions(
  estimates: Estimates,
): Pick<LaneOptions, "workers" | "maxTasks" | "taskCost" | "perform"> {
  switch (estimates.kind) {
    case "here": {
      const {workers, estimate} = estimates;
      return {
        workers,
        maxTasks: workers * TASKS_PER_WORKER,
        taskCost: ESTIMATES_PER_TASK * ESTIMATE_COST,
        perform: task => estimate(collectEstimates(task, "first")),
      };
    }
    case "gateway":
      // More would wait in the gateway's own queue, on time that the upstream is to have.
      return {
        workers: MAX_CONNECTIONS,
        maxTasks: MAX_CONNECTIONS,
        taskCost: ESTIMATE_COST,
        perform: runEstimate,
      };
    case "none":
      return {workers: 1, maxTasks: 1, taskCost: ESTIMATE_COST, perform: runEstimate};
  }
}
