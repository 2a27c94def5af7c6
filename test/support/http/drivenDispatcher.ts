/** A dispatcher with lanes for proofs and estimates. Its tasks end and its clock moves only when a test says so. */
import {mock} from "node:test";
import {pino} from "pino";
import {Dispatcher} from "../../../server/dispatch/dispatcher.ts";
import type {LaneOptions} from "../../../server/dispatch/lane.ts";
import {createGatewayLane} from "../../../server/dispatch/lanes/lanes.ts";
import {packTask} from "../../../server/dispatch/lanes/packTask.ts";
import type {Task} from "../../../server/dispatch/task.ts";
import type {Gateway} from "../../../server/gateway/gateway.ts";
import {DEFAULT_LIMITS, ESTIMATE_COST, type Limits} from "../../../server/limits.ts";
import {type PackedCalls, PROOF_SEGMENT_COST} from "../../../server/methods/packedCalls.ts";
import {MethodTable} from "../../../server/methods/table.ts";
import {CallTally} from "../../../server/observe/callTally.ts";
import {RefusalLog} from "../../../server/observe/refusalLog.ts";
import {TroubleLog} from "../../../server/observe/troubleLog.ts";
import {LaneId, type RequestCalls} from "../../../server/request/requestCalls.ts";
import type {TaskAnswers} from "../../../server/request/taskText.ts";
import {AnswerMemories, type AnswerMemory} from "../../../workers/messages/answerMemory.ts";
import {whenSettled} from "../../../workers/messages/answers.ts";
import type {Failure} from "../../../workers/messages/failure.ts";
import {waitUntil} from "../wait.ts";
import type {CollectedReply} from "./collectedReply.ts";
import {createRequest, createRequestCalls, type DescribedCall, runEstimate} from "./requestCalls.ts";

/** Upper bound of a proof's text per unit of cost, which the lane is told. */
export const PROOF_BYTES = 1000;
/** The number of keys with which one call for a proof fills a task. */
export const FULL_PROOF = PROOF_SEGMENT_COST - 1;
export const ESTIMATE_TASKS = 3;

export const MEMORY_BYTES = 1000;

/** How a held task of proofs ends: by a failure of its only call, or because its thread dies. undefined: it succeeds. */
type ProofEnd = Failure | Error | undefined;

interface DrivenOptions {
  readonly timeoutMs?: number;
  readonly queueCost?: number;
}

export class DrivenDispatcher {
  readonly dispatcher: Dispatcher;
  /** Tasks that were answered in an answer memory. */
  tasksInMemory = 0;
  readonly tally: CallTally;
  private readonly memories = new AnswerMemories(100, MEMORY_BYTES);
  private readonly memoryCount = this.memories.spares.length;
  /** Spaces after each proof. */
  proofPadding = 0;
  /** An estimate that ends when the test says so. */
  readonly estimate: DescribedCall = {
    run: idText => new Promise(resolve => this.estimates.push(() => resolve(createAnswers([idText])))),
  };
  private readonly timeoutMs: number;
  private readonly estimates: (() => void)[] = [];
  /** undefined: proofs end at once. */
  private heldProofs: ((end: ProofEnd) => void)[] | undefined;
  private nowMs = 1000;

  /** Takes over `performance.now` and `setInterval` until `close`. */
  constructor({timeoutMs = 60_000, queueCost = 1000}: DrivenOptions = {}) {
    mock.method(performance, "now", () => this.nowMs);
    mock.timers.enable({apis: ["setInterval"]});
    this.timeoutMs = timeoutMs;
    const lanes = [
      createLane("proof", task => this.prove(task)),
      createLane("first", runEstimate, {maxTasks: ESTIMATE_TASKS}),
    ] as const;
    ({dispatcher: this.dispatcher, tally: this.tally} = openDispatcher(lanes, {queueCost, timeoutMs}));
  }

  get estimateCount(): number {
    return this.estimates.length;
  }

  /** The cost of the calls that wait or run in each lane. */
  get queuedCosts(): [proofs: number, estimates: number] {
    const {dispatcher} = this;
    return [dispatcher.queuedCost(LaneId.PROOF), dispatcher.queuedCost(LaneId.ESTIMATE)];
  }

  get memoriesInUse(): number {
    return this.memoryCount - this.memories.spares.length;
  }

  /** [method, code, count] of the finished calls. */
  get counts(): [string, number, number][] {
    return [...this.tally.rows()].map(([method, code, count]) => [method, Number(code), count]);
  }

  /** Admits the calls as one batch. */
  admit(calls: readonly DescribedCall[]): CollectedReply {
    return this.admitCalls(createRequestCalls(calls), true);
  }

  /** Admits one proof that is asked for as bytes. */
  admitBytes(): CollectedReply {
    const calls = createRequestCalls([1]);
    (calls.byLane[LaneId.PROOF] as PackedCalls).isBytes = true;
    return this.admitCalls(calls, false);
  }

  holdProofs(): void {
    this.heldProofs = [];
  }

  /** @param end - how each task ends. Default: it succeeds */
  releaseProofs(end?: ProofEnd): void {
    for (const release of this.heldProofs ?? []) release(end);
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

  private admitCalls(calls: RequestCalls, isBatch: boolean): CollectedReply {
    const {request, reply} = createRequest(calls, {isBatch, timeoutMs: this.timeoutMs});
    this.dispatcher.admit(request);
    return reply;
  }

  private async prove(task: Task): Promise<TaskAnswers> {
    const held = this.heldProofs;
    const end = held === undefined ? undefined : await new Promise<ProofEnd>(resolve => held.push(resolve));
    if (end instanceof Error) throw end;
    if (end !== undefined) return createFailure(end);
    return this.putIntoMemory(createAnswers(packTask(task).ids, this.proofPadding));
  }

  /** Puts the text into an answer memory if it fits, as proof threads do. */
  private putIntoMemory(answers: TaskAnswers): TaskAnswers {
    if (answers.text.length > MEMORY_BYTES) return answers;
    const memory = this.memories.take() as AnswerMemory;
    this.tasksInMemory++;
    memory.bytes.set(answers.text);
    return {...answers, text: memory.bytes, memory};
  }
}

/** A lane of one worker. */
export function createLane(
  queue: "proof" | "first",
  perform: (task: Task) => Promise<TaskAnswers>,
  more: Partial<LaneOptions> = {},
): LaneOptions {
  const cost = queue === "proof" ? PROOF_SEGMENT_COST : ESTIMATE_COST;
  return {
    ...{work: queue, queue, workers: 1, maxTasks: 2, taskCost: cost},
    hasYieldPoints: queue === "proof",
    bytesPerCost: queue === "proof" ? PROOF_BYTES : 100,
    perform: (task, onCompleted) => whenSettled(perform(task), onCompleted),
    ...more,
  };
}

/** A dispatcher with the default limits but for `limits`, and what it tells. */
export function openDispatcher(
  [proof, estimate]: readonly [LaneOptions, LaneOptions],
  limits: Partial<Limits> = {},
  log = pino({level: "silent"}),
  gateway?: Gateway,
): {readonly dispatcher: Dispatcher; readonly tally: CallTally; readonly refusals: RefusalLog} {
  const tally = new CallTally(new MethodTable().names);
  const refusals = new RefusalLog(log);
  return {
    dispatcher: new Dispatcher(
      [proof, estimate, createGatewayLane(gateway)],
      {...DEFAULT_LIMITS, ...limits},
      tally,
      new TroubleLog(log),
      refusals,
    ),
    tally,
    refusals,
  };
}

/** `<id>` for each call. */
export function createAnswers(ids: readonly string[], padding = 0): TaskAnswers {
  return joinAnswers(ids.map(id => `<${id}>${" ".repeat(padding)},`));
}

/** @param texts - of each call; empty if it has none */
export function joinAnswers(texts: readonly string[]): TaskAnswers {
  let end = 0;
  const ends = Uint32Array.from(texts, text => {
    end += text.length;
    return end;
  });
  return {text: Buffer.from(texts.join("")), ends, failures: []};
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
  await waitUntil("the end of a reply", () => reply.isFinished);
}
