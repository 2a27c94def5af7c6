/** A dispatcher with both lanes. Its tasks end and its clock moves only when a test says so. */
import {mock} from "node:test";
import {pino} from "pino";
import {Dispatcher} from "../../../server/dispatch/dispatcher.ts";
import type {LaneOptions} from "../../../server/dispatch/lane.ts";
import {runEstimate} from "../../../server/dispatch/lanes/estimateLane.ts";
import {packShare, packTask} from "../../../server/dispatch/lanes/proofLane.ts";
import {PendingRequest} from "../../../server/dispatch/pendingRequest.ts";
import {DEFAULT_LIMITS, ESTIMATE_COST} from "../../../server/limits.ts";
import {getMultiProof} from "../../../server/methods/proof/getMultiProof.ts";
import {PROOF_SEGMENT_COST, ProofCalls} from "../../../server/methods/proof/proofCalls.ts";
import {MethodTable} from "../../../server/methods/table.ts";
import {CallTally} from "../../../server/observe/callTally.ts";
import {RefusalLog} from "../../../server/observe/refusalLog.ts";
import {TroubleLog} from "../../../server/observe/troubleLog.ts";
import {AnswerMemory} from "../../../server/request/answerMemory.ts";
import {LaneId} from "../../../server/request/requestCalls.ts";
import type {TaskAnswers} from "../../../server/request/taskAnswers.ts";
import type {Failure} from "../../../workers/job/failure.ts";
import type {Share} from "../../../workers/job/multiJob.ts";
import {KEYS_AT, ProofForm, writeCallHead} from "../../../workers/job/packedCall.ts";
import {CollectedReply} from "./collectedReply.ts";
import {createRequestCalls, type DescribedCall} from "./requestCalls.ts";

const HEAD = {earliest: 0, finalized: 1, latest: 1};

/** Upper bound of a proof's text per unit of cost, which the lane is told. */
export const PROOF_BYTES = 1000;
/** The number of keys with which one call for a proof fills a task. */
export const FULL_PROOF = PROOF_SEGMENT_COST - 1;
/** How many estimates run at the same time. */
export const ESTIMATE_TASKS = 3;
/** Size of one piece of the answers' memory. */
export const MEMORY_BYTES = 1000;

/** A share of a multiproof that runs. */
export interface DrivenShare extends Share {
  end(text: string): void;
  fail(failure: Failure): void;
  /** Its thread dies. */
  die(error: Error): void;
}

export interface DrivenOptions {
  readonly timeoutMs?: number;
  readonly queueCost?: number;
}

export class DrivenDispatcher {
  readonly dispatcher: Dispatcher;
  readonly tally = new CallTally(new MethodTable().names);
  readonly memory = new AnswerMemory(MEMORY_BYTES, 100);
  /** Spaces after each proof. */
  proofPadding = 0;
  /** An estimate that ends when the test says so. */
  readonly estimate: DescribedCall = {
    run: idText => new Promise(resolve => this.estimates.push(() => resolve(createAnswers([idText])))),
  };
  /** Running shares of multiproofs. They end when the test says so. */
  readonly shares: DrivenShare[] = [];
  private readonly timeoutMs: number;
  private readonly estimates: (() => void)[] = [];
  /** undefined: proofs end at once. */
  private heldProofs: (() => void)[] | undefined;
  private nowMs = 1000;

  /** Takes over `performance.now` and `setInterval` until `close`. */
  constructor({timeoutMs = 60_000, queueCost = 1000}: DrivenOptions = {}) {
    mock.method(performance, "now", () => this.nowMs);
    mock.timers.enable({apis: ["setInterval"]});
    this.timeoutMs = timeoutMs;
    const log = pino({level: "silent"});
    this.dispatcher = new Dispatcher(
      [this.createProofLane(), this.createEstimateLane()],
      {...DEFAULT_LIMITS, queueCost, timeoutMs},
      {tally: this.tally, trouble: new TroubleLog(log), refusals: new RefusalLog(log)},
    );
  }

  /** The number of running estimates. */
  get estimateCount(): number {
    return this.estimates.length;
  }

  /** The cost of the calls that wait or run in each lane. */
  get queuedCosts(): [proofs: number, estimates: number] {
    const {dispatcher} = this;
    return [dispatcher.queuedCost(LaneId.PROOF), dispatcher.queuedCost(LaneId.ESTIMATE)];
  }

  /** How many answers keep their memory. */
  get memoriesInUse(): number {
    return this.memory.allocated - this.memory.spare;
  }

  /** [method, code, count] of the finished calls. */
  get counts(): [string, number, number][] {
    return [...this.tally.entries()].map(({method, code, count}) => [method, code, count]);
  }

  /** Admits the calls as one batch. */
  admit(calls: readonly DescribedCall[]): CollectedReply {
    const reply = new CollectedReply();
    const origin = {id: "r", isBatch: true, head: HEAD, client: "c"};
    const request = new PendingRequest(origin, createRequestCalls(calls), reply, this.timeoutMs);
    this.dispatcher.admit(request);
    return reply;
  }

  /** Admits one call for a multiproof of many accounts, which is no batch. Its id is 7. */
  admitMulti(accounts: number, form: ProofForm = ProofForm.MULTI_TEXT): CollectedReply {
    const reply = new CollectedReply();
    const calls = new ProofCalls(accounts);
    for (let entry = 0; entry < accounts; entry++)
      writeCallHead(calls.packed, entry * KEYS_AT, 1, 0, entry === 0 ? form : ProofForm.NEXT_ENTRY);
    calls.add(accounts * KEYS_AT, accounts);
    calls.ids.push("7");
    calls.isBytes = form === ProofForm.MULTI_BYTES;
    const origin = {id: "r", isBatch: false, head: HEAD, client: "c"};
    const request = new PendingRequest(
      origin,
      {places: [getMultiProof], byLane: [calls, undefined]},
      reply,
      this.timeoutMs,
    );
    this.dispatcher.admit(request);
    return reply;
  }

  /** From now on proofs do not end, until `releaseProofs`. */
  holdProofs(): void {
    this.heldProofs = [];
  }

  releaseProofs(): void {
    for (const end of this.heldProofs ?? []) end();
    this.heldProofs = undefined;
  }

  /** Ends the running estimates, in any order but the request's. */
  endEstimates(): void {
    for (const end of this.estimates.splice(0).reverse()) end();
  }

  /** Moves the clock on and runs the interval timers. */
  pass(ms: number): void {
    this.nowMs += ms;
    mock.timers.tick(ms);
  }

  close(): void {
    this.dispatcher.close();
    mock.reset();
    mock.timers.reset();
  }

  private createProofLane(): LaneOptions {
    return {
      method: "prove",
      workers: 1,
      maxTasks: 2,
      taskCost: PROOF_SEGMENT_COST,
      taskMs: undefined,
      bytesPerCost: PROOF_BYTES,
      isSharedByClients: false,
      longCalls: undefined,
      perform: async task => {
        const share = packShare(task);
        if (share !== undefined) {
          const answers = await new Promise<TaskAnswers>((end, die) =>
            this.shares.push({
              ...share.share,
              end: text => end(createWhole(text)),
              fail: failure => end(createFailure(failure)),
              die,
            }),
          );
          return this.putIntoMemory(answers);
        }
        const held = this.heldProofs;
        if (held !== undefined) await new Promise<void>(resolve => held.push(resolve));
        return this.putIntoMemory(createAnswers(packTask(task).ids, this.proofPadding));
      },
    };
  }

  private createEstimateLane(): LaneOptions {
    return {
      method: "estimate",
      workers: 1,
      maxTasks: ESTIMATE_TASKS,
      taskCost: ESTIMATE_COST,
      taskMs: undefined,
      bytesPerCost: 100,
      isSharedByClients: true,
      longCalls: undefined,
      perform: runEstimate,
    };
  }

  /** Puts the text into the task's memory if it fits, as proof threads do. */
  private putIntoMemory(answers: TaskAnswers): TaskAnswers {
    if (answers.text.length > MEMORY_BYTES) return answers;
    const text = new Uint8Array(this.memory.take(), 0, answers.text.length);
    text.set(answers.text);
    return {...answers, text, memory: this.memory};
  }
}

/** `<id>` for each call. */
export function createAnswers(ids: readonly string[], padding = 0): TaskAnswers {
  const texts = ids.map(id => `<${id}>${" ".repeat(padding)},`);
  let end = 0;
  const ends = Uint32Array.from(texts, text => {
    end += text.length;
    return end;
  });
  return {text: Buffer.from(texts.join("")), ends, failures: []};
}

function createWhole(text: string): TaskAnswers {
  return {text: Buffer.from(text), ends: Uint32Array.of(text.length), failures: []};
}

/** The failure of a task's only call. */
export function createFailure(failure: Failure): TaskAnswers {
  return {text: new Uint8Array(0), ends: Uint32Array.of(0), failures: [{call: 0, ...failure}]};
}

/** Waits several turns of the event loop, so that everything that does not depend on the test has happened. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
}

/** Waits for the end of the reply. Its loop keeps the process alive, since nothing else does here. */
export async function finish(reply: CollectedReply): Promise<void> {
  while (!reply.isFinished) await new Promise(setImmediate);
}
