/** The lane of calls that another node answers (gateway/gateway.ts). */
import type {Gateway} from "../../gateway/gateway.ts";
import {FORWARD_COST, FORWARDED_BYTES_PER_COST} from "../../limits.ts";
import type {ForwardedCalls, RunForwarded} from "../../methods/forwarding/forwardedCalls.ts";
import {callsOf} from "../../request/requestCalls.ts";
import type {TaskAnswers} from "../../request/taskText.ts";
import type {LaneOptions} from "../lane.ts";
import type {PendingRequest} from "../pendingRequest.ts";
import type {Segment} from "../segment.ts";
import {performAsync, type Task} from "../task.ts";

/** @param gateway - undefined: methods prepare no call for the lane */
export function createGatewayLane(gateway: Gateway | undefined): LaneOptions {
  // With more tasks, calls would wait in the gateway's own queue and lose time that the node needs.
  const workers = gateway?.maxCalls ?? 1;
  return {
    work: "forwarded calls",
    queue: "gateway",
    workers,
    maxTasks: workers,
    taskCost: FORWARD_COST,
    bytesPerCost: FORWARDED_BYTES_PER_COST,
    hasYieldPoints: false,
    leavesRoom: true,
    perform: performAsync(forward),
  };
}

/** A task has one segment, and that has one call. */
function forward({requests, segments}: Task): Promise<TaskAnswers> {
  const {lane, firstCall} = segments[0] as Segment;
  const {prepared, ids} = callsOf((requests[0] as PendingRequest).calls, lane) as ForwardedCalls;
  return (prepared[firstCall] as RunForwarded)(ids[firstCall] as string);
}
