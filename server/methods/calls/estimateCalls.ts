/** The estimates that one request asks for. */
import type {EstimateCall} from "../../../workers/messages/estimateCall.ts";
import {ESTIMATE_COST, WITNESS_COST} from "../../limits.ts";
import type {LaneCalls} from "../../request/requestCalls.ts";
import type {TaskAnswers} from "../../request/taskText.ts";

/** A call for an estimate thread of this process, or a function that asks another node. A process uses only one kind. */
export type PreparedEstimate = EstimateCall | RunEstimate;

/** Asks another node for one estimate. The function holds its parameters. @param idText - JSON text of the call's id */
export type RunEstimate = (idText: string) => Promise<TaskAnswers>;

export class EstimateCalls implements LaneCalls {
  ids: string[] = [];
  /** One call per segment, because a task may finish, put off or not begin each call separately. */
  readonly segmentCost = ESTIMATE_COST;
  readonly isBytes = false;
  readonly prepared: PreparedEstimate[] = [];

  costOf(call: number): number {
    const prepared = this.prepared[call];
    const isWitnessed = typeof prepared === "object" && prepared.errorCodes !== undefined;
    return isWitnessed ? WITNESS_COST : ESTIMATE_COST;
  }
}
