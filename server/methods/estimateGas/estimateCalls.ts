/** The estimates that one request asks for. */
import type {EstimateCall} from "../../../workers/job/estimateCall.ts";
import type {LaneCalls} from "../../answer/requestCalls.ts";
import type {TaskAnswers} from "../../answer/taskAnswers.ts";
import {ESTIMATE_COST} from "../../limits.ts";

/** For an estimate thread here, or what makes the estimate elsewhere. All of a process are of one kind. */
export type PreparedEstimate = EstimateCall | RunEstimate;

/** Makes one estimate, its parameters inside. @param idText - the call's id */
export type RunEstimate = (idText: string) => Promise<TaskAnswers>;

export class EstimateCalls implements LaneCalls {
  readonly ids: string[] = [];
  /** One call, which its task may answer, put off or not begin, whatever becomes of the others. */
  readonly segmentCost = ESTIMATE_COST;
  readonly prepared: PreparedEstimate[] = [];

  costOf(): number {
    return ESTIMATE_COST;
  }
}
