/** Where proofs are made: on the pool's proof threads, in memory that large tasks bring along. */
import type {ProveJob} from "../../../workers/job/proveJob.ts";
import type {ProofPool} from "../../../workers/pool/pool.ts";
import {AnswerMemory} from "../../answer/answerMemory.ts";
import {callsOf} from "../../answer/requestCalls.ts";
import type {Segment} from "../../answer/segment.ts";
import type {TaskAnswers} from "../../answer/taskAnswers.ts";
import {getProof} from "../../methods/proof/getProof.ts";
import {PROOF_SEGMENT_COST, type ProofCalls} from "../../methods/proof/proofCalls.ts";
import {type LaneOptions, TASKS_PER_WORKER} from "../lane.ts";
import type {PendingRequest} from "../pendingRequest.ts";
import type {Task} from "../task.ts";

/**
 * Room for the answer of any task of the usual cost (128 proofs: 820 KB, 1.6 MB if all are of absence: copied out of the
 * thread's own memory, those took 1.4 times the CPU time). A single call may cost more: its answer comes in memory of its own.
 */
const MEMORY_BYTES = 1 << 21;
/**
 * Batches in the middle hold one each, and often end together. More than 16 at once, and memory is made and let go again. Of each,
 * only the pages that an answer once covered are resident: 13 MB in all after batches of accounts.
 */
export const SPARE_MEMORIES = 16;
/**
 * Below it the answer is copied anyhow (TRANSFER_BYTES), and memory would cross for nothing: 117 against 104 us for a task of 2
 * proofs, but 119 against 127 for 4 and 527 against 628 for 32.
 */
const MIN_COST_WITH_MEMORY = 4;

export function createAnswerMemory(): AnswerMemory {
  return new AnswerMemory(MEMORY_BYTES, SPARE_MEMORIES);
}

export function createProofLane(pool: ProofPool, memory: AnswerMemory): LaneOptions {
  return {
    method: getProof.name,
    workers: pool.workers,
    maxTasks: pool.workers * TASKS_PER_WORKER,
    taskCost: PROOF_SEGMENT_COST,
    taskMs: null,
    bytesPerCost: pool.maxProofTextBytes,
    isSharedByClients: false,
    longCalls: null,
    perform: task => prove(pool, memory, task),
  };
}

/** A task that fails loses the memory that it brought. */
async function prove(pool: ProofPool, memory: AnswerMemory, task: Task): Promise<TaskAnswers> {
  const job = packTask(task);
  if (task.cost < MIN_COST_WITH_MEMORY) return pool.prove(job);
  const answers = await pool.prove({...job, memory: memory.take()});
  if (answers.unused === undefined) return {...answers, memory};
  memory.put(answers.unused);
  return answers;
}

/**
 * The calls of a task as one buffer (workers/job/packedCall.ts). Copies them to memory of their own size: structured clone
 * would take the whole buffer behind a view.
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
