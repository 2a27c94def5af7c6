/**
 * The lanes: where calls are answered that the main thread does not answer itself. Each has its own queue, tasks under
 * way and limit, since their work runs on different threads (or another machine): neither waits for the other.
 */
import {ESTIMATE_METHOD, PROOF_METHOD} from "../methods/methods.ts";

export const LaneId = {PROOF: 0, ESTIMATE: 1} as const;

export type LaneId = (typeof LaneId)[keyof typeof LaneId];

/** One of each per lane, by LaneId. */
export type ByLane<T> = readonly [proof: T, estimate: T];

export const LANE_IDS = [LaneId.PROOF, LaneId.ESTIMATE] as const;

/** As metrics label them. */
export const LANE_NAMES: ByLane<string> = ["proof", "estimate"];

/** The method that messages name the lane by; proofs have another one too (methodOf, requestCalls.ts). */
export const LANE_METHODS: ByLane<string> = [PROOF_METHOD, ESTIMATE_METHOD];
