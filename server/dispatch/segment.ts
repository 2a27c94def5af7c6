/**
 * A segment: neighbouring calls of a request that one lane answers in one task, and the ready texts (errors, other
 * methods) among them.
 *
 *   places    | proof | proof | "ready" | proof | estimate | estimate | "ready" | proof | ...
 *   segments  |<------------- 0 -------------->|<-- 1 --->|<------- 2 -------->|<- 3 ...
 */

import {append, callsOf, type LaneId, type Place, type RequestCalls} from "../request/requestCalls.ts";

/** Half-open ranges of places and of the lane's calls. */
export interface Segment {
  /** Its place among the request's segments. */
  readonly index: number;
  readonly lane: LaneId;
  readonly firstPlace: number;
  readonly endPlace: number;
  readonly firstCall: number;
  readonly endCall: number;
  readonly cost: number;
  /** Tasks that did not finish it. */
  tries: number;
  /** It continues in the long queue (longQueue.ts) or once slots are fetched, and does not count in the lane's cost. */
  isMoved: boolean;
  /** Why slots that its calls lack could not be fetched. undefined: they were not asked for. */
  whyMissing: string | undefined;
  /** What its first such call lacked. Once that is fetched, the call may find that it lacks more. */
  lacked: string;
}

/**
 * A new segment starts where the lane changes or the cost would be too high. Only a segment of a single call may cost
 * more.
 * @param calls - at least one is for a lane
 * @returns segments that each have at least one call and together cover every place
 */
export function cutSegments(calls: RequestCalls): Segment[] {
  let segments: Segment[] = [];
  const {places} = calls;
  const seen: [number, number, number] = [0, 0, 0];
  let last: {-readonly [field in keyof Segment]: Segment[field]} | undefined;
  for (let at = 0; at < places.length; at++) {
    const place = places[at] as Place;
    if (typeof place === "string") continue;
    const {lane} = place;
    const own = callsOf(calls, lane);
    const callCost = own.costOf(seen[lane]);
    if (last === undefined || lane !== last.lane || last.cost + callCost > own.segmentCost) {
      if (last !== undefined) last.endPlace = at;
      last = {
        index: segments.length,
        lane,
        firstPlace: last === undefined ? 0 : at,
        endPlace: places.length,
        firstCall: seen[lane],
        endCall: 0,
        cost: 0,
        tries: 0,
        isMoved: false,
        whyMissing: undefined,
        lacked: "",
      };
      segments = append(segments, last);
    }
    last.cost += callCost;
    last.endCall = ++seen[lane];
  }
  return segments;
}
