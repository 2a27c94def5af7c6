/**
 * From admitted requests to tasks of the pool and back.
 *
 *   admit -> queue of requests, each gives one segment a turn -> task of about TASK_COST -> pool.prove
 *            ^ round robin, so a large batch and a small call share the workers              |
 *            +--- answer in request order, window of the request's reader <------------------+
 *
 * Calls that arrive in the same turn of the event loop share tasks: the queue is emptied after the turn's input
 * (setImmediate), not at each arrival.
 */
import type {Answers, Failure} from "../../workers/job.ts";
import type {ProofPool} from "../../workers/pool.ts";
import type {Limits} from "../limits.ts";
import type {CallTally} from "../observe/callTally.ts";
import type {TroubleLog} from "../observe/troubleLog.ts";
import {PROOF_METHOD} from "../rpc/methods.ts";
import {createBlockUnknownError, encodeError, RpcCode, RpcError} from "../rpc/rpcError.ts";
import {Fifo} from "./fifo.ts";
import type {ProofRequest} from "./proofRequest.ts";
import {assembleAnswers, assembleErrors, type Segment, TASK_COST} from "./segment.ts";
import {packTask, type Task} from "./task.ts";

/** One is worked on, the next is there when it ends; more would only take the order out of our hands. */
const TASKS_PER_WORKER = 2;
/** Below it the trip (13-20 us) would outweigh the work of spreading a burst over idle workers. */
const MIN_SHARED_COST = 8;
/** Ready or expected bytes of one request, at least; a few MB let a fast reader go on while its workers do. */
const MIN_WINDOW_BYTES = 4 * 2 ** 20;
/** How late a time-out may be noticed. */
const SWEEP_MS = 50;

export class Dispatcher {
  /** Cost of all admitted and unfinished requests; of those whose reader is slow only what is under way. */
  queuedCost = 0;
  readonly #pool: ProofPool;
  readonly #limits: Limits;
  readonly #tally: CallTally;
  readonly #trouble: TroubleLog;
  readonly #bytesPerCost: number;
  readonly #windowBytes: number;
  readonly #maxTasks: number;
  readonly #queue = new Fifo<ProofRequest>();
  /** Every admitted request with unanswered segments. */
  readonly #unfinished = new Set<ProofRequest>();
  readonly #sweep: NodeJS.Timeout;
  #tasksUnderWay = 0;
  #isFlushPlanned = false;

  constructor(pool: ProofPool, limits: Limits, tally: CallTally, trouble: TroubleLog) {
    this.#pool = pool;
    this.#limits = limits;
    this.#tally = tally;
    this.#trouble = trouble;
    this.#maxTasks = pool.workers * TASKS_PER_WORKER;
    // Room for every worker's tasks, so that one large batch can use them all.
    this.#bytesPerCost = pool.maxProofTextBytes;
    this.#windowBytes = Math.max(MIN_WINDOW_BYTES, this.#maxTasks * TASK_COST * this.#bytesPerCost);
    this.#sweep = setInterval(() => this.#expireOverdue(), SWEEP_MS);
    this.#sweep.unref();
  }

  /** @returns the error for a request that finds the queue full; a request larger than the queue may still enter */
  refuse(cost: number): RpcError | null {
    const limit = this.#limits.queueCost;
    if (this.queuedCost < limit) return null;
    return new RpcError(RpcCode.LIMIT_EXCEEDED, "the queue is full: try again later", {
      limit,
      got: this.queuedCost + cost,
    });
  }

  admit(request: ProofRequest): void {
    this.#unfinished.add(request);
    this.#recount(request);
    request.reply.onAborted = () => this.#drop(request);
    request.reply.onDrained = () => this.#resume(request);
    this.#enqueue(request);
  }

  close(): void {
    clearInterval(this.#sweep);
  }

  #enqueue(request: ProofRequest): void {
    if (request.isQueued || request.isDropped || !request.hasSegmentsToStart) return;
    if (request.fitsWindow(this.#windowBytes, this.#bytesPerCost)) {
      request.isQueued = true;
      this.#queue.push(request);
      this.#planFlush();
    } else if (request.isIdle && request.pausedSinceMs === null) {
      // Everything started is answered and in order: only its reader holds it up.
      request.pausedSinceMs = performance.now();
      request.isReaderBound = true;
      this.#recount(request);
    }
  }

  /** The reader took something. */
  #resume(request: ProofRequest): void {
    if (
      request.isDropped ||
      !request.hasSegmentsToStart ||
      !request.fitsWindow(this.#windowBytes, this.#bytesPerCost)
    )
      return;
    if (request.pausedSinceMs !== null) {
      request.deadlineMs += performance.now() - request.pausedSinceMs;
      request.pausedSinceMs = null;
    }
    this.#enqueue(request);
  }

  #drop(request: ProofRequest): void {
    request.isDropped = true;
    this.#unfinished.delete(request);
    this.#recount(request);
  }

  /** Brings the request's part of `queuedCost` up to date. */
  #recount(request: ProofRequest): void {
    const share = request.queueShare;
    this.queuedCost += share - request.countedShare;
    request.countedShare = share;
  }

  #planFlush(): void {
    if (this.#isFlushPlanned || this.#tasksUnderWay >= this.#maxTasks) return;
    this.#isFlushPlanned = true;
    setImmediate(() => {
      this.#isFlushPlanned = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (this.#tasksUnderWay < this.#maxTasks) {
      const task = this.#takeTask();
      if (task === null) return;
      this.#run(task);
    }
  }

  #takeTask(): Task | null {
    const requests: ProofRequest[] = [];
    const indexes: number[] = [];
    const share = Math.ceil(this.queuedCost / this.#pool.workers);
    const wanted = Math.min(TASK_COST, Math.max(MIN_SHARED_COST, share));
    let cost = 0;
    for (let request = this.#queue.peek(); request !== undefined; request = this.#queue.peek()) {
      const isLive = !request.isDropped && request.hasSegmentsToStart;
      const next = isLive ? (request.segments[request.nextToStart] as Segment).cost : 0;
      if (cost > 0 && cost + next > wanted) break;
      this.#queue.shift();
      request.isQueued = false;
      if (!isLive) continue;
      cost += next;
      requests.push(request);
      indexes.push(request.start());
      this.#recount(request);
      this.#enqueue(request);
    }
    return requests.length === 0 ? null : {requests, indexes};
  }

  #run(task: Task): void {
    this.#tasksUnderWay++;
    this.#pool.prove(packTask(task)).then(
      answers => this.#settle(task, answers, null),
      (error: unknown) => this.#settle(task, null, error),
    );
  }

  #settle(task: Task, answers: Answers | null, error: unknown): void {
    this.#tasksUnderWay--;
    if (answers === null) {
      this.#trouble.reportTask(
        error,
        task.requests.map(request => request.id),
      );
    }
    let base = 0;
    for (let at = 0; at < task.requests.length; at++) {
      const request = task.requests[at] as ProofRequest;
      const index = task.indexes[at] as number;
      const segment = request.segments[index] as Segment;
      request.stopped(index);
      // Aborted, or given up meanwhile.
      if (!request.isDropped && !request.isSegmentAnswered(index)) {
        const pieces =
          answers === null
            ? this.#assembleInternalErrors(request, segment)
            : this.#assemble(request, segment, answers, base);
        this.#answer(request, index, pieces);
      }
      this.#recount(request);
      this.#enqueue(request);
      base += segment.endCall - segment.firstCall;
    }
    if (this.#queue.length > 0) this.#planFlush();
  }

  #answer(request: ProofRequest, index: number, pieces: Uint8Array[]): void {
    request.answer(index, pieces);
    this.#recount(request);
    if (request.isAnswered) this.#unfinished.delete(request);
  }

  #assemble(request: ProofRequest, segment: Segment, answers: Answers, base: number): Uint8Array[] {
    let failed = 0;
    const pieces = assembleAnswers(request.calls, segment, answers, base, (call, idText) => {
      failed++;
      return encodeError(
        idText,
        this.#mapFailure(
          request,
          answers.failures.find(one => one.call === call),
        ),
      );
    });
    this.#tally.add(PROOF_METHOD, 0, segment.endCall - segment.firstCall - failed);
    return pieces;
  }

  #mapFailure(request: ProofRequest, failure: Failure | undefined): RpcError {
    if (failure?.failure === "BLOCK_UNKNOWN") {
      this.#tally.add(PROOF_METHOD, RpcCode.BLOCK_UNKNOWN, 1);
      return createBlockUnknownError("asked for", request.head);
    }
    this.#tally.add(PROOF_METHOD, RpcCode.INTERNAL_ERROR, 1);
    return this.#trouble.reportFailure(failure, request.id);
  }

  #assembleInternalErrors(request: ProofRequest, segment: Segment): Uint8Array[] {
    const error = this.#trouble.createInternalError(request.id);
    this.#tally.add(PROOF_METHOD, error.code, segment.endCall - segment.firstCall);
    return assembleErrors(request.calls, segment, idText => encodeError(idText, error));
  }

  #expireOverdue(): void {
    const nowMs = performance.now();
    for (const request of this.#unfinished) {
      if (request.pausedSinceMs !== null || nowMs < request.deadlineMs) continue;
      this.#expire(request, Math.round(nowMs - request.startedMs));
    }
  }

  /** Answers everything unanswered with the time-out; what is under way in a worker is ignored when it comes. */
  #expire(request: ProofRequest, gotMs: number): void {
    const limit = this.#limits.timeoutMs;
    const message = `the request was not finished after ${limit} ms`;
    const error = new RpcError(RpcCode.LIMIT_EXCEEDED, message, {limit, got: gotMs});
    request.nextToStart = request.segments.length;
    for (let index = 0; index < request.segments.length && !request.isDropped; index++) {
      if (request.isSegmentAnswered(index)) continue;
      const segment = request.segments[index] as Segment;
      this.#tally.add(PROOF_METHOD, error.code, segment.endCall - segment.firstCall);
      const pieces = assembleErrors(request.calls, segment, idText => encodeError(idText, error));
      this.#answer(request, index, pieces);
    }
  }
}
