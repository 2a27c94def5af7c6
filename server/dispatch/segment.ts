/**
 * A segment: neighbouring calls of a request that one lane answers in one task, and the ready texts (errors, other
 * methods) among them.
 *
 *   places    | proof | proof | "ready" | proof | estimate | estimate | "ready" | proof | ...
 *   segments  |<------------- 0 -------------->|<-- 1 --->|<------- 2 -------->|<- 3 ...
 */

import {append, callsOf, LaneId, type Place, type RequestCalls} from "../request/requestCalls.ts";

/** Half-open ranges of places and of the lane's calls. */
export interface Segment {
  readonly lane: LaneId;
  readonly firstPlace: number;
  readonly endPlace: number;
  readonly firstCall: number;
  readonly endCall: number;
  readonly cost: number;
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
  const seen: [number, number] = [0, 0];
  let lane: LaneId = LaneId.PROOF;
  let firstPlace = 0;
  let firstCall = 0;
  let cost = 0;
  for (let at = 0; at < places.length; at++) {
    const place = places[at] as Place;
    if (typeof place === "string") continue;
    const own = callsOf(calls, place.lane);
    const callCost = own.costOf(seen[place.lane]);
    if (cost > 0 && (place.lane !== lane || cost + callCost > own.segmentCost)) {
      segments = append(segments, {lane, firstPlace, endPlace: at, firstCall, endCall: seen[lane], cost});
      firstPlace = at;
      cost = 0;
    }
    if (cost === 0) {
      lane = place.lane;
      firstCall = seen[lane];
    }
    cost += callCost;
    seen[lane]++;
  }
  return append(segments, {lane, firstPlace, endPlace: places.length, firstCall, endCall: seen[lane], cost});
}
