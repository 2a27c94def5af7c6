/** A task: segments of one or more requests that one lane answers together. */
import type {Settlement} from "../../workers/messages/answers.ts";
import type {SlotsMissing} from "../../workers/messages/failure.ts";
import type {TaskAnswers} from "../request/taskText.ts";
import type {Busy} from "./admission.ts";
import type {PendingRequest} from "./pendingRequest.ts";
import type {Segment} from "./segment.ts";

/** `segments[k]` is one of `requests[k]`. */
export interface Task {
  readonly requests: readonly PendingRequest[];
  readonly segments: readonly Segment[];
  readonly cost: number;
  /** It may take longer than others should wait (PackedJob). */
  readonly isLong?: boolean;
}

export type OnCompleted = (task: Task, settlement: Settlement<TaskAnswers>) => void;

export type OnRejected = (request: PendingRequest, segment: Segment, busy: Busy) => void;

/** Calls `onCompleted` once, at the end. No promise: five of them were a quarter of the garbage of each task. */
export type Perform = (task: Task, onCompleted: (settlement: Settlement<TaskAnswers>) => void) => void;

/** As SlotFetcher.fetch. */
export type FetchSlots = (missing: readonly SlotsMissing[], client: string) => string | Promise<string>;
