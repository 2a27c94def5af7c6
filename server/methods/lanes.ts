/** The lanes as methods and metrics see them: each lane's name, and the object for its calls of one request. */
import {mostPackedBytes} from "../../workers/messages/packedCall.ts";
import {ESTIMATE_COST} from "../limits.ts";
import type {ByLane, LaneCalls} from "../request/requestCalls.ts";
import {ForwardedCalls} from "./forwarding/forwardedCalls.ts";
import {PackedCalls, PROOF_SEGMENT_COST} from "./packedCalls.ts";

/** `cost` is that of all calls that will be added. */
export const LANES: ByLane<{readonly name: string; createCalls(cost: number): LaneCalls}> = [
  {name: "proof", createCalls: cost => new PackedCalls(PROOF_SEGMENT_COST, mostPackedBytes(cost))},
  // One call per segment, because a task may finish, put off or not begin each call separately.
  {name: "estimate", createCalls: () => new PackedCalls(ESTIMATE_COST)},
  {name: "gateway", createCalls: () => new ForwardedCalls()},
];
