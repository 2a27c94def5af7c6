/** Calls of a request as the dispatcher takes them, made of a short description. */
import {LaneId} from "../../../server/dispatch/laneId.ts";
import type {
  PreparedEstimate,
  RequestCalls,
  RunEstimate,
  Slot,
} from "../../../server/dispatch/requestCalls.ts";
import type {EstimateCall} from "../../../workers/job/estimateCall.ts";
import {packedBytes} from "../../../workers/job/packedCall.ts";

/** A proof by its number of keys, an estimate, or a text that is ready. */
export type DescribedSlot = number | {readonly run: RunEstimate} | {readonly call: EstimateCall} | string;

/** An estimate that nobody makes. */
export const IDLE_ESTIMATE: DescribedSlot = {run: () => Promise.reject(new Error("not made"))};

/** The ids are p0, p1, ... and e0, e1, ..., not being JSON. @param estimateName - in place of e */
export function createRequestCalls(described: readonly DescribedSlot[], estimateName = "e"): RequestCalls {
  const slots: Slot[] = [];
  const ids: [string[], string[]] = [[], []];
  const ends: number[] = [];
  const estimates: PreparedEstimate[] = [];
  for (const slot of described) {
    if (typeof slot === "string") slots.push(slot);
    else if (typeof slot === "number") {
      ids[LaneId.PROOF].push(`p${ends.length}`);
      ends.push((ends.at(-1) ?? 0) + packedBytes(slot));
      slots.push(LaneId.PROOF);
    } else {
      ids[LaneId.ESTIMATE].push(`${estimateName}${estimates.length}`);
      estimates.push("run" in slot ? slot.run : slot.call);
      slots.push(LaneId.ESTIMATE);
    }
  }
  return {slots, ids, packed: new Uint8Array(ends.at(-1) ?? 0), ends, estimates};
}
