/** A task: segments of one or several requests that one lane answers together. */
import type {EstimateCall} from "../../workers/job/estimateCall.ts";
import type {EstimateJob, EstimateSlice} from "../../workers/job/estimateJob.ts";
import type {ProveJob} from "../../workers/job/proveJob.ts";
import type {Segment} from "../answer/segment.ts";
import type {PendingRequest} from "./pendingRequest.ts";
import type {RunEstimate, TaskAnswers} from "./requestCalls.ts";

/** Segment `indexes[k]` of `requests[k]`, in this order. */
export interface Task {
  readonly requests: readonly PendingRequest[];
  readonly indexes: readonly number[];
  /** Of all of them. */
  readonly cost: number;
}

/**
 * The calls of a task of proofs as one buffer (workers/job/packedCall.ts). Copies them to memory of their own size: structured
 * clone would take the whole buffer behind a view.
 */
export function packTask(task: Task): ProveJob {
  const views: Uint8Array[] = [];
  const ids: string[] = [];
  let byteCount = 0;
  for (let at = 0; at < task.requests.length; at++) {
    const request = task.requests[at] as PendingRequest;
    const {lane, firstCall, endCall} = request.segments[task.indexes[at] as number] as Segment;
    const {packed, ends} = request.calls;
    const view = packed.subarray(firstCall === 0 ? 0 : ends[firstCall - 1], ends[endCall - 1]);
    views.push(view);
    byteCount += view.length;
    for (let call = firstCall; call < endCall; call++) ids.push(request.calls.ids[lane][call] as string);
  }
  const calls = new Uint8Array(byteCount);
  let at = 0;
  for (const view of views) {
    calls.set(view, at);
    at += view.length;
  }
  return {calls, ids};
}

/** The calls of a task of estimates that are made here. Each segment has one. @param slice - null: all its time */
export function collectEstimates(task: Task, slice: EstimateSlice | null): EstimateJob {
  const calls: EstimateCall[] = [];
  const ids: string[] = [];
  for (let at = 0; at < task.requests.length; at++) {
    const request = task.requests[at] as PendingRequest;
    const {lane, firstCall} = request.segments[task.indexes[at] as number] as Segment;
    calls.push(request.calls.estimates[firstCall] as EstimateCall);
    ids.push(request.calls.ids[lane][firstCall] as string);
  }
  return slice === null ? {calls, ids} : {calls, ids, slice};
}

/** Makes the one estimate of a task elsewhere. */
export function runEstimate(task: Task): Promise<TaskAnswers> {
  const [request] = task.requests as [PendingRequest];
  const {lane, firstCall} = request.segments[task.indexes[0] as number] as Segment;
  const run = request.calls.estimates[firstCall] as RunEstimate;
  return run(request.calls.ids[lane][firstCall] as string);
}
