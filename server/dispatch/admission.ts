/** Decides before any work whether a request may enter the lanes that it needs. */

import type {Limits} from "../limits.ts";
import type {RefusalLog} from "../observe/refusalLog.ts";
import {type ByLane, LANE_IDS, type LaneId} from "../rpc/requestCalls.ts";
import {RpcCode, RpcError} from "../rpc/rpcError.ts";
import {type Busy, createWaitError, toSeconds} from "./busy.ts";
import type {Lane} from "./lane.ts";

/** The lane that cannot take a request now, and the answer to the request. */
interface BusyLane extends Busy {
  readonly lane: LaneId;
}

export class Admission {
  constructor(
    private readonly lanes: ByLane<Lane>,
    private readonly limits: Limits,
    private readonly refusals: RefusalLog,
  ) {}

  /**
   * Checks each lane that the request needs: whether its queue has room, and how long the request would wait. A queue with any
   * room takes a request of every size.
   *
   * @param costs - of the request, by lane. A lane with cost 0 is not checked
   * @returns the first lane that is full or in which the request would wait too long; undefined if there is none
   */
  refuse(costs: ByLane<number>, client: string): BusyLane | undefined {
    for (const lane of LANE_IDS) {
      const busy = costs[lane] === 0 ? undefined : this.refuseAt(this.lanes[lane], costs[lane], client);
      if (busy !== undefined) return {...busy, lane};
    }
    return undefined;
  }

  private refuseAt(lane: Lane, cost: number, client: string): Busy | undefined {
    const {timeoutMs} = this.limits;
    const waitMs = lane.expectWaitMs(client);
    const full = lane.costs.findFull(client);
    if (full !== undefined) {
      const message = `the queue of ${lane.method} is full: try again later`;
      const data = {limit: full.limit, got: full.got + cost};
      this.refusals.note(lane.figures.name, "queue_full", waitMs);
      return {
        error: new RpcError(RpcCode.LIMIT_EXCEEDED, message, data),
        retryAfterSeconds: toSeconds(waitMs),
      };
    }
    if (waitMs <= timeoutMs) return undefined;
    this.refusals.note(lane.figures.name, "wait", waitMs);
    return createWaitError("the request", waitMs, timeoutMs, timeoutMs);
  }
}
