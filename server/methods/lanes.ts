/** The lanes as methods and metrics see them: each lane's name, and the object for its calls of one request. */
import type {ByLane, LaneCalls} from "../request/requestCalls.ts";
import {EstimateCalls} from "./estimateGas/estimateCalls.ts";
import {ProofCalls} from "./proof/proofCalls.ts";

interface LaneKind {
  readonly name: string;
  /** @param cost - of all calls that will be added */
  createCalls(cost: number): LaneCalls;
}

export const LANES: ByLane<LaneKind> = [
  {name: "proof", createCalls: cost => new ProofCalls(cost)},
  {name: "estimate", createCalls: () => new EstimateCalls()},
];
