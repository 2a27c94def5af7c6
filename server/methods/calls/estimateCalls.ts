/** The estimates that one request asks for. */
import type {EstimateCall} from "../../../workers/messages/estimateCall.ts";
import {ESTIMATE_COST, WITNESS_COST} from "../../limits.ts";
import type {LaneCalls} from "../../request/requestCalls.ts";

export class EstimateCalls implements LaneCalls {
  ids: string[] = [];
  /** One call per segment, because a task may finish, put off or not begin each call separately. */
  readonly segmentCost = ESTIMATE_COST;
  readonly isBytes = false;
  readonly prepared: EstimateCall[] = [];

  costOf(call: number): number {
    const prepared = this.prepared[call];
    const isWitnessed = typeof prepared === "object" && prepared.errorCodes !== undefined;
    return isWitnessed ? WITNESS_COST : ESTIMATE_COST;
  }
}
