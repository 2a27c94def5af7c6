/** The calls of one request that another node answers. */
import {FORWARD_COST} from "../../limits.ts";
import type {LaneCalls} from "../../request/requestCalls.ts";
import type {TaskAnswers} from "../../request/taskText.ts";

/** Asks the node. The function holds the parameters. @param idText - JSON text of the call's id */
export type RunForwarded = (idText: string) => Promise<TaskAnswers>;

export class ForwardedCalls implements LaneCalls {
  ids: string[] = [];
  /** One call per segment, because each is answered when the node answers it. */
  readonly segmentCost = FORWARD_COST;
  readonly isBytes = false;
  readonly prepared: RunForwarded[] = [];
  private readonly costs: number[] = [];

  add(run: RunForwarded, cost: number): void {
    this.prepared.push(run);
    this.costs.push(cost);
  }

  costOf(call: number): number {
    return this.costs[call] as number;
  }
}
