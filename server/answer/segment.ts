/**
 * A segment: neighbouring calls of one HTTP request that one lane answers in one task and whose answers are one range of
 * the response. Calls that are answered without a lane (errors, other methods) lie in between as ready texts.
 *
 *   slots     | proof | proof | "ready" | proof | estimate | estimate | "ready" | proof | ...
 *   segments  |<------------- 0 -------------->|<-- 1 --->|<------- 2 -------->|<- 3 ...
 */

import {type ByLane, LaneId} from "../dispatch/laneId.ts";
import {costOfCall, methodOf, type RequestCalls, type Slot} from "../dispatch/requestCalls.ts";
import {ESTIMATE_COST} from "../limits.ts";
import {Piece, type TaskText} from "./taskText.ts";

/**
 * Cost of one segment.
 *
 * Proofs, an account or slot 1: a trip to a worker and back takes 100 us of both threads where they wait for each other,
 * which up to 128 units share: with 64, a batch of 100 took two, and 1.18 times the CPU time. 128 proofs take a worker 2-3 ms:
 * small enough to be fair between requests, and their 0.8-1.6 MB of text is small against the window of a slow reader.
 *
 * Estimates: one, which its task may answer, put off or not begin, whatever becomes of the others.
 */
export const SEGMENT_COSTS: ByLane<number> = [128, ESTIMATE_COST];

/** Half-open ranges of slots and of the lane's calls. */
export interface Segment {
  readonly lane: LaneId;
  readonly firstSlot: number;
  readonly endSlot: number;
  readonly firstCall: number;
  readonly endCall: number;
  readonly cost: number;
}

/**
 * Cuts where the lane changes, and so that no segment exceeds its lane's cost, except for a single call that does.
 *
 * @param calls - at least one of them for a lane
 * @returns segments that each have a call and together cover every slot
 */
export function cutSegments(calls: RequestCalls): Segment[] {
  const segments: Segment[] = [];
  const {slots} = calls;
  /** Calls seen, by lane. */
  const seen: [number, number] = [0, 0];
  let lane: LaneId = LaneId.PROOF;
  let firstSlot = 0;
  let firstCall = 0;
  let cost = 0;
  for (let at = 0; at < slots.length; at++) {
    const slot = slots[at] as Slot;
    if (typeof slot === "string") continue;
    const callCost = costOfCall(calls, slot, seen[slot]);
    if (cost > 0 && (slot !== lane || cost + callCost > SEGMENT_COSTS[lane])) {
      segments.push({lane, firstSlot, endSlot: at, firstCall, endCall: seen[lane], cost});
      firstSlot = at;
      cost = 0;
    }
    if (cost === 0) {
      lane = slot;
      firstCall = seen[lane];
    }
    cost += callCost;
    seen[lane]++;
  }
  segments.push({lane, firstSlot, endSlot: slots.length, firstCall, endCall: seen[lane], cost});
  return segments;
}

/**
 * The segment's part of the response: each response object followed by a comma, as few pieces as possible.
 *
 * @param text, ends - of the task that the segment was in
 * @param base - index in `ends` of the segment's first call
 * @param encodeFailure - the response object of a call of which `text` has an empty range; `call` as in `ends`
 */
export function assembleAnswers(
  calls: RequestCalls,
  segment: Segment,
  {text, ends}: {readonly text: TaskText; readonly ends: Uint32Array},
  base: number,
  encodeFailure: (call: number, idText: string) => string,
): Piece[] {
  const ids = calls.ids[segment.lane];
  const pieces: Piece[] = [];
  let from = base === 0 ? 0 : (ends[base - 1] as number);
  let to = from;
  let call = base;
  for (let at = segment.firstSlot; at < segment.endSlot; at++) {
    let ready = calls.slots[at] as Slot;
    if (typeof ready !== "string") {
      const end = ends[call] as number;
      if (end > to) {
        to = end;
        call++;
        continue;
      }
      ready = encodeFailure(call, ids[segment.firstCall + call - base] as string);
      call++;
    }
    if (to > from) pieces.push(text.cut(from, to));
    from = to;
    pieces.push(new Piece(Buffer.from(`${ready},`)));
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
  const ids = calls.ids[segment.lane];
  const texts: string[] = [];
  let call = segment.firstCall;
  for (let at = segment.firstSlot; at < segment.endSlot; at++) {
    const slot = calls.slots[at] as Slot;
    texts.push(typeof slot === "string" ? slot : encodeFailure(ids[call++] as string), ",");
  }
  return [new Piece(Buffer.from(texts.join("")))];
}

/** How many of the segment's calls each method has. */
export function countMethods(calls: RequestCalls, segment: Segment): Map<string, number> {
  const counts = new Map<string, number>();
  for (let call = segment.firstCall; call < segment.endCall; call++) {
    const method = methodOf(calls, segment.lane, call);
    counts.set(method, (counts.get(method) ?? 0) + 1);
  }
  return counts;
}
