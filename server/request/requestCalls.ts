/**
 * The calls of one HTTP request: their places in request order, without notifications, and the calls for each lane.
 *
 *   places     | proof | proof | "ready" | estimate | proof | forwarded | ...
 *   lane 0     |   0   |   1   |         |          |   2   |           | ...      ids and prepared calls, one after
 *   lane 1     |       |       |         |    0     |       |           | ...      the other
 *   lane 2     |       |       |         |          |       |     0     | ...
 */

/** Each lane has its own queue, tasks and limit. Threads or another node work for it, so none waits for the others. */
export const LaneId = {PROOF: 0, ESTIMATE: 1, GATEWAY: 2} as const;

export type LaneId = (typeof LaneId)[keyof typeof LaneId];

export type ByLane<T> = readonly [proof: T, estimate: T, gateway: T];

export const LANE_IDS = [LaneId.PROOF, LaneId.ESTIMATE, LaneId.GATEWAY] as const;

/** The place of a call that a lane answers. It names the method. */
export interface LanePlace {
  readonly name: string;
  readonly lane: LaneId;
}

/** A call that a lane answers, or the finished response object of any other call, without a comma. */
export type Place = LanePlace | string;

/** The calls of a request that one lane answers, in order. Only methods and lanes know their prepared form. */
export interface LaneCalls {
  /** JSON text of each call's id. */
  ids: string[];
  /** Highest cost of a segment (segment.ts). A single call may cost more. */
  readonly segmentCost: number;
  /** The answer to the only call is bytes, and no JSON-RPC response, unless the call fails. */
  readonly isBytes: boolean;
  costOf(call: number): number;
}

export interface RequestCalls {
  readonly places: readonly Place[];
  /** undefined for a lane that answers none of the calls. */
  readonly byLane: ByLane<LaneCalls | undefined>;
}

/** Adds to a list that mostly gets one element: `push` would make room for 17. @returns the list, perhaps a new one */
export function append<T>(list: T[], element: T): T[] {
  if (list.length === 0) return [element];
  list.push(element);
  return list;
}

/** The calls of a lane. The request must have some for it. */
export function callsOf(calls: RequestCalls, lane: LaneId): LaneCalls {
  return calls.byLane[lane] as LaneCalls;
}
