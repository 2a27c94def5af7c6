/**
 * The calls of one HTTP request: their places in request order, notifications left out, and what each lane answers.
 *
 *   places     | proof | proof | "ready" | estimate | proof | ...
 *   lane 0     |   0   |   1   |         |          |   2   | ...      ids and prepared calls, one after the other
 *   lane 1     |       |       |         |    0     |       | ...
 */

/**
 * The lanes: where calls are answered that the main thread does not answer itself. Each has its own queue, tasks under
 * way and limit, since their work runs on different threads (or another machine): neither waits for the other.
 */
export const LaneId = {PROOF: 0, ESTIMATE: 1} as const;

export type LaneId = (typeof LaneId)[keyof typeof LaneId];

/** One of each per lane, by LaneId. */
export type ByLane<T> = readonly [proof: T, estimate: T];

export const LANE_IDS = [LaneId.PROOF, LaneId.ESTIMATE] as const;

/** What stands at the place of a call that a lane answers: its method. */
export interface LanePlace {
  readonly name: string;
  readonly lane: LaneId;
}

/** A call that a lane answers, or the finished response object of any other, without a comma. */
export type Place = LanePlace | string;

/** The calls of a request that one lane answers, in request order. What is prepared is between the methods and the lane. */
export interface LaneCalls {
  /** JSON text of each call's id. */
  readonly ids: string[];
  /** Of one segment (segment.ts), except for a single call that costs more. */
  readonly segmentCost: number;
  /** What a call counts of its segment's cost. */
  costOf(call: number): number;
}

export interface RequestCalls {
  readonly places: readonly Place[];
  /** null: no call asks for the lane. */
  readonly byLane: ByLane<LaneCalls | null>;
}

/** Of a lane that the request has calls for. */
export function callsOf(calls: RequestCalls, lane: LaneId): LaneCalls {
  return calls.byLane[lane] as LaneCalls;
}
