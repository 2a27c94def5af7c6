/** Where gas estimates are made: on threads of this process, by another node, or nowhere. */
import type {EstimateCall} from "../../../workers/job/estimateCall.ts";
import type {EstimateJob, EstimateSlice} from "../../../workers/job/estimateJob.ts";
import {JOB_MS, SLICES} from "../../../workers/job/estimateSlices.ts";
import {countLongWorkers} from "../../../workers/pool/estimateThreads.ts";
import {callsOf} from "../../answer/requestCalls.ts";
import type {Segment} from "../../answer/segment.ts";
import type {TaskAnswers} from "../../answer/taskAnswers.ts";
import {MAX_CONNECTIONS} from "../../gateway/gateway.ts";
import {ESTIMATE_COST, MAX_ESTIMATE_TEXT_BYTES} from "../../limits.ts";
import type {EstimateCalls, RunEstimate} from "../../methods/estimateGas/estimateCalls.ts";
import {estimateGas} from "../../methods/estimateGas/estimateGas.ts";
import type {Estimates} from "../../methods/estimates.ts";
import {type LaneOptions, TASKS_PER_WORKER} from "../lane.ts";
import type {LongCallOptions} from "../longCalls.ts";
import type {PendingRequest} from "../pendingRequest.ts";
import type {Task} from "../task.ts";

/**
 * Transfers take 0.1 to 0.2 ms, so that as many are begun in a job's time (JOB_MS); a trip to a thread and back takes 0.1 to 0.2
 * ms too, which they share. One more than is begun costs its way there and back, 10 us: so many of ERC-20 transfers were a tenth
 * of their time, which TASK_MS avoids.
 */
const ESTIMATES_PER_TASK = 16;
const TASK_MS = 2 * JOB_MS;

export function createEstimateLane(estimates: Estimates): LaneOptions {
  return {
    ...createTaskOptions(estimates),
    method: estimateGas.name,
    bytesPerCost: MAX_ESTIMATE_TEXT_BYTES / ESTIMATE_COST,
    taskMs: TASK_MS,
    isSharedByClients: true,
    longCalls: createLongCalls(estimates),
  };
}

/** @returns null where estimates have no slices: whoever makes them elsewhere has bounds of its own */
function createLongCalls(estimates: Estimates): LongCallOptions | null {
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

/** The calls of a task of estimates that are made here. Each segment has one. @param slice - null: all its time */
export function collectEstimates(task: Task, slice: EstimateSlice | null): EstimateJob {
  const calls: EstimateCall[] = [];
  const ids: string[] = [];
  for (let at = 0; at < task.requests.length; at++) {
    const request = task.requests[at] as PendingRequest;
    const {lane, firstCall} = request.segments[task.indexes[at] as number] as Segment;
    const own = callsOf(request.calls, lane) as EstimateCalls;
    calls.push(own.prepared[firstCall] as EstimateCall);
    ids.push(own.ids[firstCall] as string);
  }
  return slice === null ? {calls, ids} : {calls, ids, slice};
}

/** Makes the one estimate of a task elsewhere. */
export function runEstimate(task: Task): Promise<TaskAnswers> {
  const [request] = task.requests as [PendingRequest];
  const {lane, firstCall} = request.segments[task.indexes[0] as number] as Segment;
  const own = callsOf(request.calls, lane) as EstimateCalls;
  return (own.prepared[firstCall] as RunEstimate)(own.ids[firstCall] as string);
}
