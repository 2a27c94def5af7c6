/**
 * The calls of one HTTP request in request order, notifications left out, and what each costs.
 *
 *   slots      | proof | proof | "ready" | estimate | proof | ...
 *   proof ids  |   0   |   1   |         |          |   2   | ...      packed back to back in `packed`
 *   est. ids   |       |       |         |    0     |       | ...
 */
import type {Answers} from "../../workers/job/answers.ts";
import type {EstimateCall} from "../../workers/job/estimateCall.ts";
import {keyCountOf, ProofForm, readCallForm} from "../../workers/job/packedCall.ts";
import type {AnswerMemory} from "../answer/answerMemory.ts";
import {ESTIMATE_COST} from "../limits.ts";
import {ESTIMATE_METHOD, PROOF_AT_METHOD, PROOF_METHOD} from "../methods/methods.ts";
import {type ByLane, LaneId} from "./laneId.ts";

/** A call that a lane answers, or the finished response object of any other, without a comma. */
export type Slot = LaneId | string;

export interface RequestCalls {
  readonly slots: readonly Slot[];
  /** JSON text of each call's id. */
  readonly ids: ByLane<readonly string[]>;
  /** All proof calls, packed (workers/job/packedCall.ts). */
  readonly packed: Uint8Array;
  /** End of each proof call in `packed`. */
  readonly ends: readonly number[];
  readonly estimates: readonly PreparedEstimate[];
}

/** For an estimate thread here, or what makes the estimate elsewhere. All of a lane are of one kind. */
export type PreparedEstimate = EstimateCall | RunEstimate;

/** Makes one estimate, its parameters inside. @param idText - the call's id */
export type RunEstimate = (idText: string) => Promise<TaskAnswers>;

/** What a task comes back with. */
export interface TaskAnswers extends Answers {
  /** Takes over the memory of `text` when nobody uses it any more; left out: the garbage collector does. */
  readonly memory?: AnswerMemory;
  /** What each answer is counted as: 0 or its error's code. Left out: `text` has results only. */
  readonly codes?: readonly number[];
  /** Estimates (workers/job/estimateCall.ts); left out: none, and all. */
  readonly unfinished?: readonly number[];
  readonly begun?: number;
}

/** A proof call's cost, an account or slot 1, is told from the length of its packed form. */
export function costOfCall(calls: RequestCalls, lane: LaneId, call: number): number {
  if (lane === LaneId.ESTIMATE) return ESTIMATE_COST;
  return 1 + keyCountOf((calls.ends[call] as number) - startOf(calls, call));
}

/** A proof call's method is told from the form that it asks for. */
export function methodOf(calls: RequestCalls, lane: LaneId, call: number): string {
  if (lane === LaneId.ESTIMATE) return ESTIMATE_METHOD;
  const form = readCallForm(calls.packed, startOf(calls, call));
  return form === ProofForm.WITH_BLOCK ? PROOF_AT_METHOD : PROOF_METHOD;
}

function startOf({ends}: RequestCalls, call: number): number {
  return call === 0 ? 0 : (ends[call - 1] as number);
}
