/** A task of the pool: segments of one or several requests, and their calls as one buffer (workers/job.ts). */
import type {ProveJob} from "../../workers/job.ts";
import type {ProofRequest} from "./proofRequest.ts";
import type {Segment} from "./segment.ts";

/** Segment `indexes[k]` of `requests[k]`, in this order. */
export interface Task {
  readonly requests: ProofRequest[];
  readonly indexes: number[];
}

/** Copies the calls to memory of their own size: structured clone would take the whole buffer behind a view. */
export function packTask(task: Task): ProveJob {
  const views: Uint8Array[] = [];
  const ids: string[] = [];
  let byteCount = 0;
  for (let at = 0; at < task.requests.length; at++) {
    const request = task.requests[at] as ProofRequest;
    const {firstCall, endCall} = request.segments[task.indexes[at] as number] as Segment;
    const {packed, ends} = request.calls;
    const view = packed.subarray(firstCall === 0 ? 0 : ends[firstCall - 1], ends[endCall - 1]);
    views.push(view);
    byteCount += view.length;
    for (let call = firstCall; call < endCall; call++) ids.push(request.calls.ids[call] as string);
  }
  const calls = new Uint8Array(byteCount);
  let at = 0;
  for (const view of views) {
    calls.set(view, at);
    at += view.length;
  }
  return {calls, ids};
}
