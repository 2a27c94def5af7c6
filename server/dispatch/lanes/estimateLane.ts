/**
 * The lane of gas estimates, and of calls that are run once. Threads of this process compute them. Another node may make
 * the estimates instead, or they are not available.
 */
import type {EstimateCall} from "../../../workers/messages/estimateCall.ts";
import type {EstimateJob} from "../../../workers/messages/estimateJob.ts";
import {JOB_MS} from "../../../workers/messages/estimateSlice.ts";
import {countLongThreads, LONG_PLACES} from "../../../workers/threads/estimateThreads.ts";
import {ESTIMATE_COST, MAX_CALL_TEXT_BYTES} from "../../limits.ts";
import type {EstimateCalls, PreparedEstimate, RunEstimate} from "../../methods/calls/estimateCalls.ts";
import type {Estimates} from "../../methods/method.ts";
import {callsOf} from "../../request/requestCalls.ts";
import type {TaskAnswers} from "../../request/taskText.ts";
import {type LaneOptions, TASKS_PER_WORKER} from "../lane.ts";
import type {PendingRequest} from "../pendingRequest.ts";
import type {Segment} from "../segment.ts";
import {performAsync, type Task} from "../task.ts";

/** About as many transfers as a job begins in its time (JOB_MS). A call that is sent but not begun wastes 10 us. */
const ESTIMATES_PER_TASK = 16;
const TASK_MS = 2 * JOB_MS;
/**
 * A slice may be too short even for a cheap call, while V8 compiles code or collects garbage. In the long queue it
 * would wait behind endless calls of its own client.
 */
const FIRST_TRIES = 2;

/** A slice takes as long as some 20 transfers, and a call that it did not finish has used all of it. */
const SLICE_COST = 20 * ESTIMATE_COST;

export function createEstimateLane(estimates: Estimates): LaneOptions {
  const common = {
    work: "estimates and calls",
    queue: "first",
    unfinishedCost: SLICE_COST,
    taskMs: TASK_MS,
    hasYieldPoints: false,
    bytesPerCost: MAX_CALL_TEXT_BYTES / ESTIMATE_COST,
  } as const;
  if (estimates.kind !== "here") {
    // With more tasks, calls would wait in the gateway's own queue and lose time that the upstream needs.
    const workers = estimates.kind === "gateway" ? estimates.gateway.maxCalls : 1;
    const sizes = {workers, maxTasks: workers, taskCost: ESTIMATE_COST};
    // Without slices: another node makes the estimates within its own limits.
    return {...common, ...sizes, long: undefined, perform: performAsync(runEstimate)};
  }
  const {workers, timeMs, estimate} = estimates;
  const perform = (isFirst: boolean) => performAsync(task => estimate(collectEstimates(task, isFirst)));
  const sizes = {threads: countLongThreads(workers), slotsPerThread: LONG_PLACES};
  return {
    ...common,
    workers,
    maxTasks: workers * TASKS_PER_WORKER,
    taskCost: ESTIMATES_PER_TASK * ESTIMATE_COST,
    perform: perform(true),
    long: {...sizes, tries: FIRST_TRIES, callMs: timeMs, perform: perform(false)},
  };
}

/** Collects the calls of a task for this process. @param isFirst - each call has a first slice only */
export function collectEstimates(task: Task, isFirst: boolean): EstimateJob {
  const calls: EstimateCall[] = [];
  const ids: string[] = [];
  for (const [at, request] of task.requests.entries()) {
    const {prepared, id} = callAt(request, task.segments[at] as Segment);
    calls.push(prepared as EstimateCall);
    ids.push(id);
  }
  return {calls, ids, isFirst};
}

/** Lets another node make the only estimate of a task. */
export function runEstimate({requests, segments}: Task): Promise<TaskAnswers> {
  const {prepared, id} = callAt(requests[0] as PendingRequest, segments[0] as Segment);
  return (prepared as RunEstimate)(id);
}

/** Each segment has one call. */
function callAt(
  {calls}: PendingRequest,
  {lane, firstCall}: Segment,
): {prepared: PreparedEstimate; id: string} {
  const {prepared, ids} = callsOf(calls, lane) as EstimateCalls;
  return {prepared: prepared[firstCall] as PreparedEstimate, id: ids[firstCall] as string};
}
