/** Packs the calls of a task for a thread of this process, back to back. */
import type {PackedJob} from "../../../workers/messages/jobMailbox.ts";
import type {PackedCalls} from "../../methods/packedCalls.ts";
import {append, callsOf} from "../../request/requestCalls.ts";
import type {Segment} from "../segment.ts";
import type {Task} from "../task.ts";

export function packTask({requests, segments, isLong = false}: Task): PackedJob {
  let parts: Uint8Array[] = [];
  let ids: string[] = [];
  for (const [at, {calls}] of requests.entries()) {
    const {lane, firstCall, endCall} = segments[at] as Segment;
    const own = callsOf(calls, lane) as PackedCalls;
    parts = append(parts, own.slice(firstCall, endCall));
    for (let call = firstCall; call < endCall; call++) ids = append(ids, own.ids[call] as string);
  }
  const calls = parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
  return {calls, ids, isLong};
}
