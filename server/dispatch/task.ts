/** A task: segments of one or more requests that one lane answers together. */
import type {Settlement} from "../../workers/messages/answers.ts";
import type {TaskAnswers} from "../rpc/taskText.ts";
import type {PendingRequest} from "./pendingRequest.ts";

/** The segments are `indexes[k]` of `requests[k]`, in this order. */
export interface Task {
  readonly requests: readonly PendingRequest[];
  readonly indexes: readonly number[];
  readonly cost: number;
}

/** Takes over a task that has ended. */
export type OnSettled = (task: Task, settlement: Settlement<TaskAnswers>) => void;

export async function settleTask(
  task: Task,
  perform: (task: Task) => Promise<TaskAnswers>,
): Promise<Settlement<TaskAnswers>> {
  try {
    return {answers: await perform(task)};
  } catch (error) {
    return {error};
  }
}

/** Makes what a lane performs (LaneOptions). */
export function settleLater(
  perform: (task: Task) => Promise<TaskAnswers>,
): (task: Task, onSettled: (settlement: Settlement<TaskAnswers>) => void) => void {
  return (task, onSettled) => settleTask(task, perform).then(onSettled);
}
