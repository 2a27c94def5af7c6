/** Calls for estimate threads, packed as the server packs them. */
import {ESTIMATE_COST} from "../../../server/limits.ts";
import {PackedCalls} from "../../../server/methods/packedCalls.ts";
import type {Engine} from "../../../workers/engine.ts";
import type {Answers} from "../../../workers/messages/answers.ts";
import type {EstimateCall} from "../../../workers/messages/estimateCall.ts";
import type {PackedJob} from "../../../workers/messages/jobMailbox.ts";

/** A job in which each call has its whole time. The ids are 1, 2, ... */
export function packEstimates(...list: readonly EstimateCall[]): PackedJob {
  const calls = new PackedCalls(ESTIMATE_COST);
  for (const call of list) calls.putCall(call, ESTIMATE_COST);
  return {
    calls: calls.packed.subarray(0, calls.end),
    ids: list.map((_, at) => String(at + 1)),
    isLong: true,
  };
}

export function estimateBy(engine: Engine, job: PackedJob): Promise<Answers> {
  return new Promise((resolve, reject) => {
    engine.estimate(job, settlement => {
      if ("error" in settlement) reject(settlement.error);
      else resolve(settlement.answers);
    });
  });
}
