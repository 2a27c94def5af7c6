/**
 * A segment is a run of neighbouring calls of one HTTP request. One lane answers them in one task, and their answers are
 * one range of the response. Calls that need no lane (errors, other methods) lie in between as ready texts.
 *
 *   places    | proof | proof | "ready" | proof | estimate | estimate | "ready" | proof | ...
 *   segments  |<------------- 0 -------------->|<-- 1 --->|<------- 2 -------->|<- 3 ...
 */

import {answerStart, SEPARATOR} from "../../workers/messages/answers.ts";
import {
  append,
  callsOf,
  LaneId,
  type LanePlace,
  type Place,
  type RequestCalls,
} from "../request/requestCalls.ts";
import {Piece, type TaskText} from "../request/taskText.ts";

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
 * Cuts the calls into segments. A new segment starts where the lane changes or the segment's cost would be too high. Only
 * a segment of a single call may cost more.
 *
 * @param calls - must have at least one call for a lane
 * @returns segments that each have at least one call and together cover every place
 */
export function cutSegments(calls: RequestCalls): Segment[] {
  let segments: Segment[] = [];
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

/** @param call - index in the task's `ends` */
export interface CallEncoder {
  /** The call has its range in the task's text. */
  noteAnswer(place: LanePlace, call: number): void;
  /** @returns the response object of a call whose range of the text is empty */
  encodeFailure(place: LanePlace, call: number, idText: string): string;
}

/**
 * Makes the segment's part of the response, in as few pieces as possible. A comma follows each response object.
 *
 * @param text, ends - of the task that answered the segment
 * @param base - index of the segment's first call in `ends`
 */
export function assembleAnswers(
  calls: RequestCalls,
  segment: Segment,
  {text, ends}: {readonly text: TaskText; readonly ends: Uint32Array},
  base: number,
  encoder: CallEncoder,
): Piece[] {
  const {ids} = callsOf(calls, segment.lane);
  let pieces: Piece[] = [];
  let from = answerStart(ends, base);
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
        encoder.noteAnswer(place, call++);
        continue;
      }
      ready = encoder.encodeFailure(place, call, ids[segment.firstCall + call - base] as string);
      call++;
    }
    if (to > from) pieces = append(pieces, text.cut(from, to));
    from = to;
    pieces = append(pieces, new Piece(Buffer.from(ready + SEPARATOR)));
  }
  return to > from ? append(pieces, text.cut(from, to)) : pieces;
}

/** Makes the segment's part of the response if its task failed or never ran. */
export function assembleErrors(
  calls: RequestCalls,
  segment: Segment,
  encodeFailure: (place: LanePlace, idText: string) => string,
): Piece[] {
  const {ids} = callsOf(calls, segment.lane);
  const texts: string[] = [];
  let call = segment.firstCall;
  for (let at = segment.firstPlace; at < segment.endPlace; at++) {
    const place = calls.places[at] as Place;
    texts.push(typeof place === "string" ? place : encodeFailure(place, ids[call++] as string), SEPARATOR);
  }
  return [new Piece(Buffer.from(texts.join("")))];
}
