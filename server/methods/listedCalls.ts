/** The calls of one request for a lane that answers each on its own. */
import type {EstimateCall} from "../../workers/messages/estimateCall.ts";
import type {LaneCalls} from "../request/requestCalls.ts";
import type {TaskAnswers} from "../request/taskText.ts";

/** Asks the gateway's node. The function holds the parameters. @param idText - JSON text of the call's id */
export type RunForwarded = (idText: string) => Promise<TaskAnswers>;

export type EstimateCalls = ListedCalls<EstimateCall>;
export type ForwardedCalls = ListedCalls<RunForwarded>;

export class ListedCalls<Prepared> implements LaneCalls {
  ids: string[] = [];
  /** One call per segment, because a task may finish, put off or not begin each call separately. */
  readonly segmentCost = 1;
  readonly isBytes = false;
  readonly prepared: Prepared[] = [];
  private readonly costs: number[] = [];

  add(prepared: Prepared, cost: number): void {
    this.prepared.push(prepared);
    this.costs.push(cost);
  }

  costOf(call: number): number {
    return this.costs[call] as number;
  }
}
