/** A task: segments of one or more requests that one lane answers together. */
import type {TaskAnswers} from "../request/taskAnswers.ts";
import type {PendingRequest} from "./pendingRequest.ts";

/** The segments are `indexes[k]` of `requests[k]`, in this order. */
export interface Task {
  readonly requests: readonly PendingRequest[];
  readonly indexes: readonly number[];
  readonly cost: number;
}

/** The result of a task: its answers, or why there are none. */
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
