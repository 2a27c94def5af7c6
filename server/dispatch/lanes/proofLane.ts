/** The lane of proofs. The engine's proof threads make them. Large tasks bring the memory for their answers. */
import type {Engine} from "../../../workers/engine.ts";
import type {ProveJob} from "../../../workers/job/proveJob.ts";
import {getProof} from "../../methods/proof/getProof.ts";
import {PROOF_SEGMENT_COST, type ProofCalls} from "../../methods/proof/proofCalls.ts";
import {AnswerMemory} from "../../request/answerMemory.ts";
import {callsOf} from "../../request/requestCalls.ts";
import type {Segment} from "../../request/segment.ts";
import type {TaskAnswers} from "../../request/taskAnswers.ts";
import {type LaneOptions, TASKS_PER_WORKER} from "../lane.ts";
import type {PendingRequest} from "../pendingRequest.ts";
import type {Task} from "../task.ts";

/**
 * Enough for the answer of a task of the usual cost. 128 proofs take 820 KB, or 1.6 MB if all are of absence. Copying
 * those out of the thread's own memory took 1.4 times the CPU time. A single call may cost more. Then its answer comes in
 * new memory.
 */
const MEMORY_BYTES = 1 << 21;
/**
 * Each running batch uses one memory, and batches often end together. If more than 16 are used at once, the others are
 * allocated and freed again. Only pages that an answer has covered are resident: 13 MB in total after batches of accounts.
 */
export const SPARE_MEMORIES = 16;
/**
 * Tasks that cost less bring no memory, because their answers are copied anyway (TRANSFER_BYTES). Times with and without
 * memory: 117 and 104 us for a task of 2 proofs, 119 and 127 us for 4, 527 and 628 us for 32.
 */
const MIN_COST_WITH_MEMORY = 4;

export function createAnswerMemory(): AnswerMemory {
  return new AnswerMemory(MEMORY_BYTES, SPARE_MEMORIES);
}

export function createProofLane(engine: Engine, memory: AnswerMemory): LaneOptions {
  return {
    method: getProof.name,
    workers: engine.workers,
    maxTasks: engine.workers * TASKS_PER_WORKER,
    taskCost: PROOF_SEGMENT_COST,
    taskMs: undefined,
    bytesPerCost: engine.maxProofTextBytes,
    turnCost: PROOF_SEGMENT_COST,
    queue: "proof",
    longCalls: undefined,
    perform: task => prove(engine, memory, task),
  };
}

/** Makes the proofs of a task. If the task fails, the memory that it brought is lost. */
async function prove(engine: Engine, memory: AnswerMemory, task: Task): Promise<TaskAnswers> {
  const job = packTask(task);
  if (task.cost < MIN_COST_WITH_MEMORY) return engine.prove(job);
  const answers = await engine.prove({...job, memory: memory.take()});
  if (answers.unused === undefined) return {...answers, memory};
  memory.put(answers.unused);
  return answers;
}

/**
 * Packs the calls of a task into one buffer (workers/job/packedCall.ts). They are copied to a buffer of exactly their
 * size, because structured clone of a view would copy the whole buffer behind it.
 */
export function packTask(task: Task): ProveJob {
  const views: Uint8Array[] = [];
  const ids: string[] = [];
  let byteCount = 0;
  for (let at = 0; at < task.requests.length; at++) {
    const request = task.requests[at] as PendingRequest;
    const {lane, firstCall, endCall} = request.segments[task.indexes[at] as number] as Segment;
    const own = callsOf(request.calls, lane) as ProofCalls;
    const view = own.slice(firstCall, endCall);
    views.push(view);
    byteCount += view.length;
    for (let call = firstCall; call < endCall; call++) ids.push(own.ids[call] as string);
  }
  const calls = new Uint8Array(byteCount);
  let at = 0;
  for (const view of views) {
    calls.set(view, at);
    at += view.length;
  }
  return {calls, ids};
}
