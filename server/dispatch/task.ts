/** A task: segments of one or several requests that one lane answers together. */
import type {TaskAnswers} from "../answer/taskAnswers.ts";
import type {PendingRequest} from "./pendingRequest.ts";

/** Segment `indexes[k]` of `requests[k]`, in this order. */
export interface Task {
  readonly requests: readonly PendingRequest[];
  readonly indexes: readonly number[];
  /** Of all of them. */
  readonly cost: number;
}

/** What became of a task: its answers, or why there are none. */
export type Settlement = {readonly answers: TaskAnswers} | {readonly error: unknown};

export async function settleTask(
  task: Task,
  perform: (task: Task) => Promise<TaskAnswers>,
): Promise<Settlement> {
  try {
    return {answers: await perform(task)};
  } catch (error) {
    return {error};
  }
}
