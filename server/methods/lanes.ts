/** The lanes as methods and metrics see them: each lane's name, and the object for its calls of one request. */
import type {ByLane, LaneCalls} from "../request/requestCalls.ts";
import {EstimateCalls} from "./calls/estimateCalls.ts";
import {ForwardedCalls} from "./forwarding/forwardedCalls.ts";
import {ProofCalls} from "./proof/proofCalls.ts";

/** `cost` is that of all calls that will be added. */
export const LANES: ByLane<{readonly name: string; createCalls(cost: number): LaneCalls}> = [
  {name: "proof", createCalls: cost => new ProofCalls(cost)},
  {name: "estimate", createCalls: () => new EstimateCalls()},
  {name: "gateway", createCalls: () => new ForwardedCalls()},
];
