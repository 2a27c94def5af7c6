/** The lanes as methods and metrics see them: each lane's name, and the object for its calls of one request. */
import type {ByLane, LaneCalls} from "../request/requestCalls.ts";
import {type EstimateCalls, type ForwardedCalls, ListedCalls} from "./listedCalls.ts";
import {ProofCalls} from "./proof/proofCalls.ts";

/** `cost` is that of all calls that will be added. */
export const LANES: ByLane<{readonly name: string; createCalls(cost: number): LaneCalls}> = [
  {name: "proof", createCalls: cost => new ProofCalls(cost)},
  {name: "estimate", createCalls: (): EstimateCalls => new ListedCalls()},
  {name: "gateway", createCalls: (): ForwardedCalls => new ListedCalls()},
];
