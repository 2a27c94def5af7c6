/**
 * A large call that is alone in its request is made in shares (workers/job/multiJob.ts). Each share is a segment, and together they
 * are the answer:
 *
 *   segments   locate 0 | locate 1 | .. | write 0 | write 1 | write 2 | ..
 *   starts     at once                  | after all locates
 *                                                 | after write 0
 *
 * In a batch each call is a part of one segment, because an error in the middle of one call would end the others' answers too.
 */
import {callsOf, type LanePlace, type RequestCalls} from "./requestCalls.ts";
import type {ShareSegment} from "./segment.ts";

/** @returns undefined if the request has more than one call, or a small one */
export function cutShares(calls: RequestCalls): ShareSegment[] | undefined {
  const [place] = calls.places;
  if (calls.places.length !== 1 || typeof place === "string") return undefined;
  const {lane} = place as LanePlace;
  const own = callsOf(calls, lane);
  const count = own.shares;
  if (count === 1) return undefined;
  const cost = own.costOf(0);
  return Array.from({length: 2 * count}, (_, index) => ({
    ...{lane, firstPlace: 0, endPlace: 1, firstCall: 0, endCall: 1},
    // Both stages of a unit take about the same time. The costs are whole numbers, and their sum is that of the call.
    cost: Math.floor((cost * (index + 1)) / (2 * count)) - Math.floor((cost * index) / (2 * count)),
    share:
      index < count
        ? {stage: "locate", index, count, after: 0}
        : {stage: "write", index: index - count, count, after: index === count ? count : count + 1},
  }));
}
