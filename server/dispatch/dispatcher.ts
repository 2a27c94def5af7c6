/**
 * From admitted requests to the lanes' tasks and back.
 *
 *   admit -> lane "proof":    queue -> task -> pool.prove -------------+
 *      |                                                               |
 *      +---> lane "estimate": queue -> task -> a slice for each -------+
 *      |                        ^  not begun |        | not finished   |
 *      |                        +------------+   long calls -----------+
 *      |                                                               |
 *      +<-- answer in request order, window of its reader <------------+
 *
 * A request is in both lanes at once; what one of them answers early waits for the other's answer before it.
 */

import {assembleAnswers, assembleErrors, countMethods, type Segment} from "../answer/segment.ts";
import {type Piece, TaskText} from "../answer/taskText.ts";
import {ESTIMATE_COST, type Limits} from "../limits.ts";
import type {CallTally} from "../observe/callTally.ts";
import type {RefusalLog} from "../observe/refusalLog.ts";
import type {TroubleLog} from "../observe/troubleLog.ts";
import {createFailureError} from "../rpc/failure.ts";
import {encodeError, RpcCode, RpcError} from "../rpc/rpcError.ts";
import {type Busy, createWaitError, toSeconds} from "./busy.ts";
import {Lane, type LaneOptions, type OnSettled} from "./lane.ts";
import {type ByLane, LANE_IDS, LANE_METHODS, LaneId} from "./laneId.ts";
import {type LongCallOptions, LongCalls} from "./longCalls.ts";
import type {PendingRequest} from "./pendingRequest.ts";
import type {QueueFigures} from "./queueFigures.ts";
import {methodOf, type TaskAnswers} from "./requestCalls.ts";
import type {SliceQueue} from "./sliceQueue.ts";
import type {Task} from "./task.ts";

/** How late a time-out may be noticed. */
const SWEEP_MS = 50;

/** A lane that does not take a request now. */
export interface BusyLane extends Busy {
  readonly lane: LaneId;
}

export interface Observers {
  readonly tally: CallTally;
  readonly trouble: TroubleLog;
  readonly refusals: RefusalLog;
}

export class Dispatcher {
  readonly #limits: Limits;
  readonly #tally: CallTally;
  readonly #trouble: TroubleLog;
  readonly #refusals: RefusalLog;
  readonly #lanes: ByLane<Lane>;
  /** null: estimates are not made here. */
  readonly #longCalls: LongCalls | null;
  /** Every admitted request with unanswered segments. */
  readonly #unfinished = new Set<PendingRequest>();
  readonly #sweep: NodeJS.Timeout;
  #givenBack = 0;

  constructor(
    [proof, estimate]: ByLane<LaneOptions>,
    longCalls: LongCallOptions | null,
    limits: Limits,
    {tally, trouble, refusals}: Observers,
  ) {
    this.#limits = limits;
    this.#tally = tally;
    this.#trouble = trouble;
    this.#refusals = refusals;
    const settleTo =
      (findNext: () => SliceQueue | undefined): OnSettled =>
      (task, answers, error) =>
        this.#settle(task, answers, error, findNext());
    const lane = new Lane(
      LaneId.ESTIMATE,
      estimate,
      settleTo(() => this.#longCalls?.second),
    );
    this.#lanes = [
      new Lane(
        LaneId.PROOF,
        proof,
        settleTo(() => undefined),
      ),
      lane,
    ];
    this.#longCalls =
      longCalls === null
        ? null
        : new LongCalls(longCalls, limits, refusals, {
            onSecond: settleTo(() => this.#longCalls?.long),
            onLong: settleTo(() => undefined),
            isFirstWaiting: () => lane.isWaiting,
          });
    this.#sweep = setInterval(() => this.#expireOverdue(), SWEEP_MS);
    this.#sweep.unref();
  }

  queuedCost(lane: LaneId): number {
    return this.#lanes[lane].queuedCost;
  }

  /** Estimates that came back from their tasks unbegun, so far. */
  get givenBack(): number {
    return this.#givenBack;
  }

  /** The queues of the estimates, and how many calls are in each: waiting, or in the lane's also under way. */
  readEstimateQueues(): readonly {readonly figures: QueueFigures; readonly calls: number}[] {
    const lane = this.#lanes[LaneId.ESTIMATE];
    const first = {figures: lane.figures, calls: Math.ceil(lane.queuedCost / ESTIMATE_COST)};
    if (this.#longCalls === null) return [first];
    const {second, long} = this.#longCalls;
    return [first, ...[second, long].map(({figures, waiting: calls}) => ({figures, calls}))];
  }

  /**
   * A request larger than a lane's queue may still enter while there is room in it.
   *
   * @param costs - of the request; a lane that it does not need may be full
   * @param client - who asks, where it needs the estimate lane
   * @returns a lane that has no room for it, or in which it would wait too long, or null
   */
  refuse(costs: ByLane<number>, client: string): BusyLane | null {
    for (const lane of LANE_IDS) {
      const busy = costs[lane] === 0 ? null : this.#refuseAt(this.#lanes[lane], costs[lane], client);
      if (busy !== null) return {...busy, lane};
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

  #refuseAt(lane: Lane, cost: number, client: string): Busy | null {
    const {queueCost: limit, timeoutMs} = this.#limits;
    const waitMs = lane.expectWaitMs(client);
    if (!lane.hasRoom(limit, client)) {
      const message = `the queue of ${LANE_METHODS[lane.id]} is full: try again later`;
      const data = {limit, got: lane.queuedCost + cost};
      if (lane.id === LaneId.ESTIMATE) this.#refusals.note(lane.figures.name, "queue_full", waitMs);
      return {
        error: new RpcError(RpcCode.LIMIT_EXCEEDED, message, data),
        retryAfterSeconds: toSeconds(waitMs),
      };
    }
    if (waitMs <= timeoutMs) return null;
    this.#refusals.note(lane.figures.name, "wait", waitMs);
    return createWaitError("the request", waitMs, timeoutMs, timeoutMs);
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
    this.#longCalls?.forget(request);
    this.#recount(request);
  }

  /** @param next - where calls go that were not finished */
  #settle(task: Task, answers: TaskAnswers | null, error: unknown, next: SliceQueue | undefined): void {
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
      // Aborted, or given up meanwhile.
      const isOver = request.isDropped || request.isSegmentAnswered(index);
      if (!isOver && next !== undefined && answers?.unfinished?.includes(base) === true) {
        this.#moveOn(request, index, next);
      } else {
        request.stop(index);
        if (!isOver && answers?.begun !== undefined && base >= answers.begun) {
          request.giveBack(index);
          this.#givenBack++;
        } else if (!isOver) {
          const pieces =
            answers === null || text === null
              ? this.#assembleErrors(request, segment, this.#trouble.createInternalError(request.id))
              : this.#assemble(request, segment, answers, text, base);
          this.#answer(request, index, pieces);
        }
      }
      this.#recount(request);
      this.#offer(request);
      base += segment.endCall - segment.firstCall;
    }
    text?.release();
    this.#longCalls?.start();
  }

  /** A call that took longer than its slice begins again with a longer one, in its turn, or is turned away. */
  #moveOn(request: PendingRequest, index: number, next: SliceQueue): void {
    request.move(index);
    const busy = this.#longCalls?.add(next, request, index) ?? null;
    if (busy === null) return;
    request.stop(index);
    const segment = request.segments[index] as Segment;
    if (request.isBatch) {
      this.#answer(request, index, this.#assembleErrors(request, segment, busy.error));
      return;
    }
    this.#tally.add(LANE_METHODS[segment.lane], busy.error.code, 1);
    const idText = request.calls.ids[segment.lane][segment.firstCall] as string;
    request.turnAway(encodeError(idText, busy.error), busy.retryAfterSeconds);
    this.#unfinished.delete(request);
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
    const {calls} = request;
    const results = countMethods(calls, segment);
    const shared = {text, ends: answers.ends};
    const pieces = assembleAnswers(calls, segment, shared, base, (call, idText) => {
      const failure = answers.failures.find(one => one.call === call);
      const error =
        createFailureError(failure, request.head) ?? this.#trouble.reportFailure(failure, request.id);
      const method = methodOf(calls, segment.lane, segment.firstCall + call - base);
      results.set(method, (results.get(method) as number) - 1);
      this.#tally.add(method, error.code, 1);
      return encodeError(idText, error);
    });
    if (answers.codes === undefined) for (const [method, count] of results) this.#tally.add(method, 0, count);
    else {
      for (let call = segment.firstCall; call < segment.endCall; call++) {
        const code = answers.codes[call - segment.firstCall + base];
        if (code !== undefined) this.#tally.add(methodOf(calls, segment.lane, call), code, 1);
      }
    }
    return pieces;
  }

  /** Every call of the segment has the same error. */
  #assembleErrors(request: PendingRequest, segment: Segment, error: RpcError): Piece[] {
    for (const [method, count] of countMethods(request.calls, segment))
      this.#tally.add(method, error.code, count);
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
    this.#longCalls?.forget(request);
    for (let index = 0; index < request.segments.length && !request.isDropped; index++) {
      if (request.isSegmentAnswered(index)) continue;
      const segment = request.segments[index] as Segment;
      this.#answer(request, index, this.#assembleErrors(request, segment, error));
    }
  }
}
