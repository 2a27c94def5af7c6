/** The calls of one request that the gateway's node answers. */
import type {LaneCalls} from "../../request/requestCalls.ts";
import type {TaskAnswers} from "../../request/taskText.ts";

/** Asks the gateway's node. The function holds the parameters. @param idText - JSON text of the call's id */
export type RunForwarded = (idText: string) => Promise<TaskAnswers>;

export class ForwardedCalls implements LaneCalls {
  ids: string[] = [];
  /** One call per segment: each is answered on its own. */
  readonly segmentCost = 1;
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
