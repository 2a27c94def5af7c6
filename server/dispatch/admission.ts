/** Whether a request may enter the lanes that it needs, told before any work. */
import {type ByLane, LANE_IDS, type LaneId} from "../answer/requestCalls.ts";
import type {Limits} from "../limits.ts";
import type {RefusalLog} from "../observe/refusalLog.ts";
import {RpcCode, RpcError} from "../rpc/rpcError.ts";
import {type Busy, createWaitError, toSeconds} from "./busy.ts";
import type {Lane} from "./lane.ts";

/** A lane that does not take a request now. */
export interface BusyLane extends Busy {
  readonly lane: LaneId;
}

export class Admission {
  private readonly lanes: ByLane<Lane>;
  private readonly limits: Limits;
  private readonly refusals: RefusalLog;

  constructor(lanes: ByLane<Lane>, limits: Limits, refusals: RefusalLog) {
    this.lanes = lanes;
    this.limits = limits;
    this.refusals = refusals;
  }

  /** Does it matter who asks? */
  needsClient(costs: ByLane<number>): boolean {
    for (const lane of LANE_IDS) if (costs[lane] > 0 && this.lanes[lane].isSharedByClients) return true;
    return false;
  }

  /**
   * A request larger than a lane's queue may still enter while there is room in it.
   *
   * @param costs - of the request; a lane that it does not need may be full
   * @param client - who asks, where that matters
   * @returns a lane that has no room for it, or in which it would wait too long, or null
   */
  refuse(costs: ByLane<number>, client: string): BusyLane | null {
    for (const lane of LANE_IDS) {
      const busy = costs[lane] === 0 ? null : this.refuseAt(this.lanes[lane], costs[lane], client);
      if (busy !== null) return {...busy, lane};
    }
    return null;
  }

  private refuseAt(lane: Lane, cost: number, client: string): Busy | null {
    const {queueCost: limit, timeoutMs} = this.limits;
    const waitMs = lane.expectWaitMs(client);
    if (!lane.hasRoom(limit, client)) {
      const message = `the queue of ${lane.method} is full: try again later`;
      const data = {limit, got: lane.queuedCost + cost};
      if (lane.isSharedByClients) this.refusals.note(lane.figures.name, "queue_full", waitMs);
      return {
        error: new RpcError(RpcCode.LIMIT_EXCEEDED, message, data),
        retryAfterSeconds: toSeconds(waitMs),
      };
    }
    if (waitMs <= timeoutMs) return null;
    this.refusals.note(lane.figures.name, "wait", waitMs);
    return createWaitError("the request", waitMs, timeoutMs, timeoutMs);
  }
}
