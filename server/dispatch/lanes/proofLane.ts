/** The lane of proofs. The engine's proof threads make them. */
import type {Engine} from "../../../workers/engine.ts";
import {PROOF_SEGMENT_COST} from "../../methods/packedCalls.ts";
import type {SlotFetcher} from "../../slices/slotFetcher.ts";
import {type LaneOptions, TASKS_PER_WORKER} from "../lane.ts";
import {packTask} from "./packTask.ts";

export function createProofLane(engine: Engine, slots?: SlotFetcher): LaneOptions {
  return {
    work: "proofs and values",
    workers: engine.workers,
    maxTasks: engine.workers * TASKS_PER_WORKER,
    taskCost: PROOF_SEGMENT_COST,
    bytesPerCost: engine.maxProofTextBytes,
    hasYieldPoints: true,
    queue: "proof",
    perform: (task, onCompleted) => engine.prove(packTask(task), onCompleted),
    fetchSlots: slots && ((missing, client) => slots.fetch(missing, client)),
  };
}
