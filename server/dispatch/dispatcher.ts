/**
 * From admitted requests to the lanes' tasks and back.
 *
 *   admit -> lane "proof":    queue -> task -> pool.prove ----+
 *      |                                                      |
 *      +---> lane "estimate": queue -> task -> one estimate --+
 *      |                                                      |
 *      +<-- answer in request order, window of its reader <---+
 *
 * A request is in both lanes at once; what one of them answers early waits for the other's answer before it.
 */
import type {Limits} from "../limits.ts";
import type {CallTally} from "../observe/callTally.ts";
import type {TroubleLog} from "../observe/troubleLog.ts";
import {createFailureError} from "../rpc/failure.ts";
import {encodeError, RpcCode, RpcError} from "../rpc/rpcError.ts";
import {Lane, type LaneOptions} from "./lane.ts";
import {type ByLane, LANE_IDS, LANE_METHODS, LaneId} from "./laneId.ts";
import type {PendingRequest} from "./pendingRequest.ts";
import type {TaskAnswers} from "./requestCalls.ts";
import {assembleAnswers, assembleErrors, type Segment} from "./segment.ts";
import type {Task} from "./task.ts";
import {type Piece, TaskText} from "./taskText.ts";

/** How late a time-out may be noticed. */
const SWEEP_MS = 50;

/** A lane with no room for a request. */
export interface FullLane {
  readonly lane: LaneId;
  readonly error: RpcError;
}

export class Dispatcher {
  readonly #limits: Limits;
  readonly #tally: CallTally;
  readonly #trouble: TroubleLog;
  readonly #lanes: ByLane<Lane>;
  /** Every admitted request with unanswered segments. */
  readonly #unfinished = new Set<PendingRequest>();
  readonly #sweep: NodeJS.Timeout;

  constructor(lanes: ByLane<LaneOptions>, limits: Limits, tally: CallTally, trouble: TroubleLog) {
    this.#limits = limits;
    this.#tally = tally;
    this.#trouble = trouble;
    const onSettled = this.#settle.bind(this);
    const [proof, estimate] = lanes;
    this.#lanes = [new Lane(LaneId.PROOF, proof, onSettled), new Lane(LaneId.ESTIMATE, estimate, onSettled)];
    this.#sweep = setInterval(() => this.#expireOverdue(), SWEEP_MS);
    this.#sweep.unref();
  }

  queuedCost(lane: LaneId): number {
    return this.#lanes[lane].queuedCost;
  }

  /**
   * A request larger than a lane's queue may still enter while there is room in it.
   *
   * @param costs - of the request; a lane that it does not need may be full
   * @returns a lane that has no room for it, or null
   */
  refuse(costs: ByLane<number>): FullLane | null {
    const limit = this.#limits.queueCost;
    for (const lane of LANE_IDS) {
      if (costs[lane] === 0 || this.queuedCost(lane) < limit) continue;
      const got = this.queuedCost(lane) + costs[lane];
      const message = `the queue of ${LANE_METHODS[lane]} is full: try again later`;
      return {lane, error: new RpcError(RpcCode.LIMIT_EXCEEDED, message, {limit, got})};
    }
    return null;
  }

  admit(request: PendingRequest): void {
    this.#unfinished.add(request);
    this.#recount(request);
    request.reply.onAborted = () => this.#drop(request);
    request.reply.onDrained = () => this.#offer(request);
    this.#offer(request);
  }

  close(): void {
    clearInterval(this.#sweep);
  }

  /** Lets each lane start what it may: after everything that changes what the request's windows hold. */
  #offer(request: PendingRequest): void {
    for (const lane of this.#lanes) lane.offer(request);
    if (request.updatePause()) this.#recount(request);
  }

  #recount(request: PendingRequest): void {
    for (const lane of this.#lanes) lane.recount(request);
  }

  #drop(request: PendingRequest): void {
    request.drop();
    this.#unfinished.delete(request);
    this.#recount(request);
  }

  #settle(task: Task, answers: TaskAnswers | null, error: unknown): void {
    if (answers === null) {
      this.#trouble.reportTask(
        error,
        task.requests.map(request => request.id),
      );
    }
    const text = answers === null ? null : new TaskText(answers.text, answers.memory);
    let base = 0;
    for (let at = 0; at < task.requests.length; at++) {
      const request = task.requests[at] as PendingRequest;
      const index = task.indexes[at] as number;
      const segment = request.segments[index] as Segment;
      request.stop(index);
      // Aborted, or given up meanwhile.
      if (!request.isDropped && !request.isSegmentAnswered(index)) {
        const pieces =
          answers === null || text === null
            ? this.#assembleErrors(request, segment, this.#trouble.createInternalError(request.id))
            : this.#assemble(request, segment, answers, text, base);
        this.#answer(request, index, pieces);
      }
      this.#recount(request);
      this.#offer(request);
      base += segment.endCall - segment.firstCall;
    }
    text?.release();
  }

  #answer(request: PendingRequest, index: number, pieces: Piece[]): void {
    request.answer(index, pieces);
    this.#recount(request);
    if (request.isAnswered) this.#unfinished.delete(request);
  }

  #assemble(
    request: PendingRequest,
    segment: Segment,
    answers: TaskAnswers,
    text: TaskText,
    base: number,
  ): Piece[] {
    const method = LANE_METHODS[segment.lane];
    const callCount = segment.endCall - segment.firstCall;
    let failed = 0;
    const shared = {text, ends: answers.ends};
    const pieces = assembleAnswers(request.calls, segment, shared, base, (call, idText) => {
      failed++;
      const failure = answers.failures.find(one => one.call === call);
      const error =
        createFailureError(failure, request.head) ?? this.#trouble.reportFailure(failure, request.id);
      this.#tally.add(method, error.code, 1);
      return encodeError(idText, error);
    });
    if (answers.codes === undefined) this.#tally.add(method, 0, callCount - failed);
    else {
      for (let call = base; call < base + callCount; call++) {
        const code = answers.codes[call];
        if (code !== undefined) this.#tally.add(method, code, 1);
      }
    }
    return pieces;
  }

  /** Every call of the segment has the same error. */
  #assembleErrors(request: PendingRequest, segment: Segment, error: RpcError): Piece[] {
    this.#tally.add(LANE_METHODS[segment.lane], error.code, segment.endCall - segment.firstCall);
    return assembleErrors(request.calls, segment, idText => encodeError(idText, error));
  }

  #expireOverdue(): void {
    const nowMs = performance.now();
    for (const request of this.#unfinished) {
      if (request.isOverdue(nowMs)) this.#expire(request, Math.round(nowMs - request.startedMs));
    }
  }

  /** Answers everything unanswered with the time-out; what is under way is ignored when it comes. */
  #expire(request: PendingRequest, gotMs: number): void {
    const limit = this.#limits.timeoutMs;
    const message = `the request was not finished after ${limit} ms`;
    const error = new RpcError(RpcCode.LIMIT_EXCEEDED, message, {limit, got: gotMs});
    request.giveUp();
    for (let index = 0; index < request.segments.length && !request.isDropped; index++) {
      if (request.isSegmentAnswered(index)) continue;
      const segment = request.segments[index] as Segment;
      this.#answer(request, index, this.#assembleErrors(request, segment, error));
    }
  }
}
