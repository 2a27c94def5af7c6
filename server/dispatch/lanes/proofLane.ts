/** The lane of proofs. The engine's proof threads make them. */
import type {Engine} from "../../../workers/engine.ts";
import type {ProveJob} from "../../../workers/job/proveJob.ts";
import {getProof} from "../../methods/proof/getProof.ts";
import {PROOF_SEGMENT_COST, type ProofCalls} from "../../methods/proof/proofCalls.ts";
import {append, callsOf} from "../../request/requestCalls.ts";
import type {Segment} from "../../request/segment.ts";
import {type LaneOptions, TASKS_PER_WORKER} from "../lane.ts";
import type {PendingRequest} from "../pendingRequest.ts";
import type {Task} from "../task.ts";

export function createProofLane(engine: Engine): LaneOptions {
  return {
    method: getProof.name,
    workers: engine.workers,
    maxTasks: engine.workers * TASKS_PER_WORKER,
    taskCost: PROOF_SEGMENT_COST,
    taskMs: undefined,
    bytesPerCost: engine.maxProofTextBytes,
    turnCost: PROOF_SEGMENT_COST,
    queue: "proof",
    longCalls: undefined,
    perform: (task, onSettled) => engine.prove(packTask(task), onSettled),
  };
}

/** Packs the calls of a task back to back (workers/job/packedCall.ts). Those of a single request are packed already. */
export function packTask(task: Task): ProveJob {
  let views: Uint8Array[] = [];
  let ids: string[] = [];
  let byteCount = 0;
  for (let at = 0; at < task.requests.length; at++) {
    const request = task.requests[at] as PendingRequest;
    const {lane, firstCall, endCall} = request.segments[task.indexes[at] as number] as Segment;
    const own = callsOf(request.calls, lane) as ProofCalls;
    const view = own.slice(firstCall, endCall);
    views = append(views, view);
    byteCount += view.length;
    for (let call = firstCall; call < endCall; call++) ids = append(ids, own.ids[call] as string);
  }
  if (views.length === 1) return {calls: views[0] as Uint8Array, ids};
  const calls = new Uint8Array(byteCount);
  let at = 0;
  for (const view of views) {
    calls.set(view, at);
    at += view.length;
  }
  return {calls, ids};
}
