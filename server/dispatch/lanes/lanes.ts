/** What the lanes do: proofs and estimates on threads of this process, forwarded calls on another node. */
import type {Engine} from "../../../workers/engine.ts";
import {whenSettled} from "../../../workers/messages/answers.ts";
import {JOB_MS} from "../../../workers/messages/estimateSlice.ts";
import {countLongThreads, LONG_PLACES} from "../../../workers/threads/estimateThreads.ts";
import type {Gateway} from "../../gateway/gateway.ts";
import {ESTIMATE_COST, FORWARD_COST, FORWARDED_BYTES_PER_COST, MAX_CALL_TEXT_BYTES} from "../../limits.ts";
import type {ForwardedCalls, RunForwarded} from "../../methods/forwarding/forwardedCalls.ts";
import type {Estimates} from "../../methods/method.ts";
import {PROOF_SEGMENT_COST} from "../../methods/packedCalls.ts";
import {callsOf} from "../../request/requestCalls.ts";
import type {TaskAnswers} from "../../request/taskText.ts";
import type {SlotFetcher} from "../../slices/slotFetcher.ts";
import {type LaneOptions, TASKS_PER_WORKER} from "../lane.ts";
import type {PendingRequest} from "../pendingRequest.ts";
import type {Segment} from "../segment.ts";
import type {Perform, Task} from "../task.ts";
import {packTask} from "./packTask.ts";

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

export function createProofLane(engine: Engine, slots?: SlotFetcher): LaneOptions {
  return {
    work: "proofs and values",
    workers: engine.workers,
    maxTasks: engine.workers * TASKS_PER_WORKER,
    taskCost: PROOF_SEGMENT_COST,
    bytesPerCost: engine.maxProofTextBytes,
    hasYieldPoints: true,
    queue: "proof",
    perform: (task, onCompleted) => engine.prove(packTask(task), onCompleted),
    fetchSlots: slots && ((missing, client) => slots.fetch(missing, client)),
  };
}

/** Gas estimates, and calls that are run once. */
export function createEstimateLane(estimates: Estimates): LaneOptions {
  const common = {
    work: "estimates and calls",
    queue: "first",
    unfinishedCost: SLICE_COST,
    taskMs: TASK_MS,
    hasYieldPoints: false,
    bytesPerCost: MAX_CALL_TEXT_BYTES / ESTIMATE_COST,
  } as const;
  // Methods prepare no call for it.
  if (estimates.kind === "none")
    return {...common, workers: 1, maxTasks: 1, taskCost: ESTIMATE_COST, perform: () => {}};
  const {workers, timeMs, estimate} = estimates;
  const perform: Perform = (task, onCompleted) => estimate(packTask(task), onCompleted);
  const sizes = {threads: countLongThreads(workers), slotsPerThread: LONG_PLACES};
  return {
    ...common,
    workers,
    maxTasks: workers * TASKS_PER_WORKER,
    taskCost: ESTIMATES_PER_TASK * ESTIMATE_COST,
    perform,
    long: {...sizes, tries: FIRST_TRIES, callMs: timeMs, perform},
  };
}

/** @param gateway - undefined: methods prepare no call for the lane */
export function createGatewayLane(gateway: Gateway | undefined): LaneOptions {
  // With more tasks, calls would wait in the gateway's own queue and lose time that the node needs.
  const workers = gateway?.maxCalls ?? 1;
  return {
    work: "forwarded calls",
    queue: "gateway",
    workers,
    maxTasks: workers,
    taskCost: FORWARD_COST,
    bytesPerCost: FORWARDED_BYTES_PER_COST,
    hasYieldPoints: false,
    leavesRoom: true,
    perform: (task, onCompleted) => whenSettled(forward(task), onCompleted),
  };
}

/** A task has one segment, and that has one call. */
function forward({requests, segments}: Task): Promise<TaskAnswers> {
  const {lane, firstCall} = segments[0] as Segment;
  const {prepared, ids} = callsOf((requests[0] as PendingRequest).calls, lane) as ForwardedCalls;
  return (prepared[firstCall] as RunForwarded)(ids[firstCall] as string);
}
