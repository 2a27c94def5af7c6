/** The lane of gas estimates, and of calls that are run once. Threads of this process compute them. */
import {JOB_MS} from "../../../workers/messages/estimateSlice.ts";
import {countLongThreads, LONG_PLACES} from "../../../workers/threads/estimateThreads.ts";
import {ESTIMATE_COST, MAX_CALL_TEXT_BYTES} from "../../limits.ts";
import type {Estimates} from "../../methods/method.ts";
import {type LaneOptions, TASKS_PER_WORKER} from "../lane.ts";
import type {Perform} from "../task.ts";
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
