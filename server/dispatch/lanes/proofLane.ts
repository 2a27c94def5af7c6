/** The lane of proofs. The engine's proof threads make them. */
import type {Engine} from "../../../workers/engine.ts";
import type {ProveJob} from "../../../workers/messages/proveMailbox.ts";
import {PROOF_SEGMENT_COST, type ProofCalls} from "../../methods/proof/proofCalls.ts";
import {callsOf} from "../../request/requestCalls.ts";
import type {SlotFetcher} from "../../slices/slotFetcher.ts";
import {type LaneOptions, TASKS_PER_WORKER} from "../lane.ts";
import type {PendingRequest} from "../pendingRequest.ts";
import type {Segment} from "../segment.ts";
import type {Task} from "../task.ts";

export function createProofLane(engine: Engine, slots?: SlotFetcher): LaneOptions {
  return {
    work: "proofs and values",
    workers: engine.workers,
    maxTasks: engine.workers * TASKS_PER_WORKER,
    taskCost: PROOF_SEGMENT_COST,
    taskMs: undefined,
    bytesPerCost: engine.maxProofTextBytes,
    unfinishedCost: 0,
    hasYieldPoints: true,
    queue: "proof",
    long: undefined,
    perform: (task, onCompleted) => engine.prove(packTask(task), onCompleted),
    fetchSlots: slots && ((missing, client) => slots.fetch(missing, client)),
  };
}

/** Packs the calls of a task back to back (workers/messages/packedCall.ts). */
export function packTask({requests, segments, isLong}: Task): ProveJob {
  const [request] = requests as [PendingRequest];
  const [segment] = segments as [Segment];
  if (isLong === true) return {...packSegment(request, segment), isLong};
  if (requests.length === 1) return packSegment(request, segment);
  const parts = requests.map((one, at) => packSegment(one, segments[at] as Segment));
  return {calls: Buffer.concat(parts.map(({calls}) => calls)), ids: parts.flatMap(({ids}) => ids)};
}

function packSegment({calls}: PendingRequest, {lane, firstCall, endCall}: Segment): ProveJob {
  const own = callsOf(calls, lane) as ProofCalls;
  const isAll = endCall - firstCall === own.ids.length;
  return {calls: own.slice(firstCall, endCall), ids: isAll ? own.ids : own.ids.slice(firstCall, endCall)};
}
