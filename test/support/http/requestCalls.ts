/** Makes requests and their calls, in the dispatcher's form, from a short description. */
import {PendingRequest} from "../../../server/dispatch/pendingRequest.ts";
import type {Segment} from "../../../server/dispatch/segment.ts";
import type {Task} from "../../../server/dispatch/task.ts";
import {ESTIMATE_COST} from "../../../server/limits.ts";
import {estimateGas} from "../../../server/methods/calls/estimateGas.ts";
import {PackedCalls, PROOF_SEGMENT_COST} from "../../../server/methods/packedCalls.ts";
import {getProof} from "../../../server/methods/proof/getProof.ts";
import {getProofAt} from "../../../server/methods/proof/getProofAt.ts";
import {LaneId, type Place, type RequestCalls} from "../../../server/request/requestCalls.ts";
import {RequestRecord} from "../../../server/request/requestRecord.ts";
import type {TaskAnswers} from "../../../server/request/taskText.ts";
import type {EstimateCall} from "../../../workers/messages/estimateCall.ts";
import {mostPackedBytes, packedBytes} from "../../../workers/messages/packedCall.ts";
import {PLAIN_CALL} from "../estimates/estimateStore.ts";
import {CollectedReply} from "./collectedReply.ts";

type RunEstimate = (idText: string) => Promise<TaskAnswers>;

/** What a test runs in place of the estimates of a request. */
const RUNS = new WeakMap<PackedCalls, readonly RunEstimate[]>();

/** A proof, given by its number of keys (with or without its block), an estimate, or a ready text. */
export type DescribedCall =
  | number
  | {readonly keysAt: number}
  | {readonly run: RunEstimate}
  | {readonly call: EstimateCall}
  | string;

/** An estimate that is never executed. */
export const IDLE_ESTIMATE: DescribedCall = {run: () => Promise.reject(new Error("not made"))};

/** The ids are p0, p1, ... and e0, e1, ..., which are not JSON. @param estimateName - used instead of e */
export function createRequestCalls(described: readonly DescribedCall[], estimateName = "e"): RequestCalls {
  const places: Place[] = [];
  const keyCounts = described.map(call => keyCountOf(call));
  const cost = keyCounts.reduce<number>((sum, count) => sum + 1 + (count ?? 0), 0);
  const proofs = new PackedCalls(PROOF_SEGMENT_COST, mostPackedBytes(cost));
  const estimates = new PackedCalls(ESTIMATE_COST);
  const runs: RunEstimate[] = [];
  RUNS.set(estimates, runs);
  for (const [at, call] of described.entries()) {
    const keyCount = keyCounts[at];
    if (keyCount !== undefined) {
      proofs.ids.push(`p${proofs.ids.length}`);
      proofs.add(proofs.end + packedBytes(keyCount));
      places.push(typeof call === "number" ? getProof : getProofAt);
    } else if (typeof call === "string") places.push(call);
    else if (typeof call === "object" && !("keysAt" in call)) {
      estimates.ids.push(`${estimateName}${estimates.ids.length}`);
      estimates.putCall("run" in call ? PLAIN_CALL : call.call, ESTIMATE_COST);
      if ("run" in call) runs.push(call.run);
      places.push(estimateGas);
    }
  }
  const byLane: [PackedCalls, PackedCalls, undefined] = [proofs, estimates, undefined];
  return {places, byLane};
}

/** What a test says of a request besides its calls. */
interface Admitted {
  readonly client?: string;
  readonly isBatch?: boolean;
  readonly timeoutMs?: number;
  readonly id?: string;
}

export function createRequest(
  calls: RequestCalls,
  {client = "c", isBatch = true, timeoutMs = 60_000, id = "r"}: Admitted = {},
): {readonly request: PendingRequest; readonly reply: CollectedReply} {
  const reply = new CollectedReply();
  const head = {earliest: 0, finalized: 1, latest: 1};
  const record = new RequestRecord(id);
  return {request: new PendingRequest(record, isBatch, head, client, calls, reply, timeoutMs), reply};
}

/** Runs the only estimate of a task, which a test has described by its `run`. */
export function runEstimate({requests, segments}: Task): Promise<TaskAnswers> {
  const [{calls}] = requests as [PendingRequest];
  const estimates = calls.byLane[LaneId.ESTIMATE] as PackedCalls;
  const [{firstCall: at}] = segments as [Segment];
  const run = RUNS.get(estimates)?.[at] as RunEstimate;
  return run(estimates.ids[at] as string);
}

export function idsOf({byLane}: RequestCalls, lane: LaneId): readonly string[] {
  return byLane[lane]?.ids ?? [];
}

function keyCountOf(call: DescribedCall): number | undefined {
  if (typeof call === "number") return call;
  return typeof call === "object" && "keysAt" in call ? call.keysAt : undefined;
}
