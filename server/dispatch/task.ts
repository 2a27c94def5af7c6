/** A task: segments of one or more requests that one lane answers together. */
import type {Settlement} from "../../workers/messages/answers.ts";
import type {TaskAnswers} from "../request/taskText.ts";
import type {Busy} from "./busy.ts";
import type {PendingRequest} from "./pendingRequest.ts";

/** The segments are `indexes[k]` of `requests[k]`, in this order. */
export interface Task {
  readonly requests: readonly PendingRequest[];
  readonly indexes: readonly number[];
  readonly cost: number;
  /** Its worker takes breaks for other tasks. */
  readonly isLong?: boolean;
}

/** Takes over a task that has ended. */
export type OnSettled = (task: Task, settlement: Settlement<TaskAnswers>) => void;

/** Takes over a call for which the long queue has no room. */
export type OnTurnedAway = (request: PendingRequest, index: number, busy: Busy) => void;

/** Calls `onSettled` once, at the task's end. A call and not a promise: five promises for each task were a quarter of its garbage. */
export type Perform = (task: Task, onSettled: (settlement: Settlement<TaskAnswers>) => void) => void;

/** Performs a task by what promises its answers. */
export function settleLater(perform: (task: Task) => Promise<TaskAnswers>): Perform {
  return async (task, onSettled) => {
    let settlement: Settlement<TaskAnswers>;
    try {
      settlement = {answers: await perform(task)};
    } catch (error) {
      settlement = {error};
    }
    onSettled(settlement);
  };
}
