/**
 * A segment: neighbouring calls of one HTTP request that one lane answers in one task and whose answers are one range of
 * the response. Calls that are answered without a lane (errors, other methods) lie in between as ready texts.
 *
 *   places    | proof | proof | "ready" | proof | estimate | estimate | "ready" | proof | ...
 *   segments  |<------------- 0 -------------->|<-- 1 --->|<------- 2 -------->|<- 3 ...
 */

import {SEPARATOR} from "../../workers/job/answers.ts";
import {callsOf, LaneId, type LanePlace, type Place, type RequestCalls} from "./requestCalls.ts";
import {Piece, type TaskText} from "./taskText.ts";

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
 * Cuts where the lane changes, and so that no segment exceeds its lane's cost, except for a single call that does.
 *
 * @param calls - at least one of them for a lane
 * @returns segments that each have a call and together cover every place
 */
export function cutSegments(calls: RequestCalls): Segment[] {
  const segments: Segment[] = [];
  const {places} = calls;
  /** Calls seen, by lane. */
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
      segments.push({lane, firstPlace, endPlace: at, firstCall, endCall: seen[lane], cost});
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
  segments.push({lane, firstPlace, endPlace: places.length, firstCall, endCall: seen[lane], cost});
  return segments;
}

/** Makes the response object of a call that failed. @param call - as in the task's `ends` */
export type EncodeFailure = (place: LanePlace, call: number, idText: string) => string;

/**
 * The segment's part of the response: each response object followed by a comma, as few pieces as possible.
 *
 * @param text, ends - of the task that the segment was in
 * @param base - index in `ends` of the segment's first call
 * @param encodeFailure - for a call of which `text` has an empty range
 */
export function assembleAnswers(
  calls: RequestCalls,
  segment: Segment,
  {text, ends}: {readonly text: TaskText; readonly ends: Uint32Array},
  base: number,
  encodeFailure: EncodeFailure,
): Piece[] {
  const {ids} = callsOf(calls, segment.lane);
  const pieces: Piece[] = [];
  let from = base === 0 ? 0 : (ends[base - 1] as number);
  let to = from;
  let call = base;
  for (let at = segment.firstPlace; at < segment.endPlace; at++) {
    const place = calls.places[at] as Place;
    let ready: string;
    if (typeof place === "string") ready = place;
    else {
      const end = ends[call] as number;
      if (end > to) {
        to = end;
        call++;
        continue;
      }
      ready = encodeFailure(place, call, ids[segment.firstCall + call - base] as string);
      call++;
    }
    if (to > from) pieces.push(text.cut(from, to));
    from = to;
    pieces.push(new Piece(Buffer.from(ready + SEPARATOR)));
  }
  if (to > from) pieces.push(text.cut(from, to));
  return pieces;
}

/** The same where nobody answered: every call of the segment has the same error. */
export function assembleErrors(
  calls: RequestCalls,
  segment: Segment,
  encodeFailure: (idText: string) => string,
): Piece[] {
  const {ids} = callsOf(calls, segment.lane);
  const texts: string[] = [];
  let call = segment.firstCall;
  for (let at = segment.firstPlace; at < segment.endPlace; at++) {
    const place = calls.places[at] as Place;
    texts.push(typeof place === "string" ? place : encodeFailure(ids[call++] as string), SEPARATOR);
  }
  return [new Piece(Buffer.from(texts.join("")))];
}

/** How many of the segment's calls each method has. */
export function countMethods(calls: RequestCalls, segment: Segment): Map<string, number> {
  const counts = new Map<string, number>();
  for (let at = segment.firstPlace; at < segment.endPlace; at++) {
    const place = calls.places[at] as Place;
    if (typeof place === "string") continue;
    counts.set(place.name, (counts.get(place.name) ?? 0) + 1);
  }
  return counts;
}
