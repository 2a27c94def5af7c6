/**
 * Hands admitted requests to the lanes, and their answers to the readers.
 *
 *   admit -> lane "proof":    queue -> task -> a proof thread ---------+
 *      |                                                               |
 *      +---> lane "estimate": queue -> task -> a slice for each -------+
 *      |                        ^  not begun |        | not finished   |
 *      |                        +------------+    long queue ----------+
 *      |                                                               |
 *      +---> lane "gateway":  queue -> task -> another node -----------+
 *      |                                                               |
 *      +<-- answer in request order, window of its reader <------------+
 *
 * A segment whose proofs lack slots of a slice runs again, once these are fetched, and outside of its lane.
 *
 * A request can be in several lanes at once. An answer that is ready early waits until all answers before it are sent.
 */

import type {Settlement} from "../../workers/messages/answers.ts";
import {ThreadsDown} from "../../workers/threads/supervisor.ts";
import {ESTIMATE_COST, type Limits} from "../limits.ts";
import type {CallTally} from "../observe/callTally.ts";
import type {EstimateQueues} from "../observe/queueFigures.ts";
import type {RefusalLog} from "../observe/refusalLog.ts";
import type {TroubleLog} from "../observe/troubleLog.ts";
import {type ByLane, LANE_IDS, LaneId} from "../request/requestCalls.ts";
import {type Piece, type TaskAnswers, TaskText} from "../request/taskText.ts";
import {createLaterError, createTimeoutError, type RpcError} from "../rpc/rpcError.ts";
import type {Busy} from "./admission.ts";
import {type AnsweredTask, Answering} from "./answering.ts";
import {Lane, type LaneOptions} from "./lane.ts";
import type {PendingRequest} from "./pendingRequest.ts";
import type {Segment} from "./segment.ts";
import type {Task} from "./task.ts";
import {UnfinishedRequests} from "./unfinishedRequests.ts";

const SWEEP_MS = 50;
/** Between two rejections of a client's long calls. Clients that retry at once would fill the first queue. */
const REJECTION_GAP_MS = 200;

interface BusyLane extends Busy {
  readonly lane: LaneId;
}

export class Dispatcher implements EstimateQueues {
  private readonly answering: Answering;
  private readonly lanes: ByLane<Lane>;
  private readonly unfinished = new UnfinishedRequests();
  private readonly sweep: NodeJS.Timeout;
  givenBack = 0;
  /** By client: when the last pending rejection of a long call is due. */
  private readonly rejectedUntilMs = new Map<string, number>();

  constructor(
    private readonly options: ByLane<LaneOptions>,
    private readonly limits: Limits,
    tally: CallTally,
    private readonly trouble: TroubleLog,
    refusals: RefusalLog,
  ) {
    this.answering = new Answering(tally, trouble);
    const createLane = (id: LaneId): Lane =>
      new Lane(
        ...([id, options[id], limits, refusals] as const),
        (task, settlement) => this.completeTask(task, settlement),
        (request, segment, busy) => this.rejectLater(request, segment, busy),
      );
    this.lanes = [createLane(LaneId.PROOF), createLane(LaneId.ESTIMATE), createLane(LaneId.GATEWAY)];
    this.sweep = setInterval(() => this.expireOverdue(), SWEEP_MS);
    this.sweep.unref();
  }

  queuedCost(lane: LaneId): number {
    return this.lanes[lane].costs.total;
  }

  readEstimateQueues(): ReturnType<EstimateQueues["readEstimateQueues"]> {
    const {figures, costs, long} = this.lanes[LaneId.ESTIMATE];
    const first = {figures, calls: Math.ceil(costs.total / ESTIMATE_COST)};
    return long === undefined ? [first] : [first, {figures: long.figures, calls: long.waiting}];
  }

  /** @returns the first lane, of those with a cost, that is full or in which the request would wait too long */
  findBusyLane(costs: ByLane<number>, client: string): BusyLane | undefined {
    for (const lane of LANE_IDS) {
      const busy = costs[lane] === 0 ? undefined : this.lanes[lane].findBusy(costs[lane], client);
      if (busy !== undefined) return {...busy, lane};
    }
    return undefined;
  }

  admit(request: PendingRequest): void {
    this.unfinished.add(request);
    this.recount(request);
    request.reply.onAborted = () => this.drop(request);
    request.reply.onDrained = () => this.attempt(request, () => this.offer(request));
    this.offer(request);
    this.makeRoom(request.client);
  }

  /** The service stops: gives an error to all unfinished calls, but for requests that wait for their own reader. */
  endAll(): void {
    const error = createLaterError("the service is stopping");
    for (const request of this.unfinished.listOverdue(Number.POSITIVE_INFINITY))
      this.attempt(request, () => this.endUnfinished(request, error));
  }

  close(): void {
    clearInterval(this.sweep);
  }

  /** Lets each lane start segments of the request. Call it after each change of the bytes in the request's windows. */
  private offer(request: PendingRequest): void {
    for (const lane of this.lanes) lane.offer(request);
    if (request.updatePause()) this.recount(request);
  }

  /** Evicts requests of the clients with most. @param client - has just added its own */
  private makeRoom(client: string): void {
    for (const lane of this.lanes)
      for (let next = lane.evictExcess(client); next !== undefined; next = lane.evictExcess(client)) {
        const [request, busy] = next;
        this.attempt(request, () => {
          if (request.isBegun) this.endUnfinished(request, busy.error);
          else this.reject(request, busy);
        });
      }
  }

  private recount(request: PendingRequest): void {
    for (const lane of this.lanes) lane.recount(request);
  }

  private drop(request: PendingRequest): void {
    request.drop();
    this.unfinished.delete(request);
    this.forgetLong(request);
    this.recount(request);
  }

  private forgetLong(request: PendingRequest): void {
    for (const {long} of this.lanes) long?.forget(request);
  }

  private completeTask(task: Task, settlement: Settlement<TaskAnswers>): void {
    let answered: AnsweredTask | undefined;
    let outage: RpcError | undefined;
    if ("error" in settlement && settlement.error instanceof ThreadsDown)
      outage = createLaterError("no thread is up that could run the call");
    else if ("error" in settlement) {
      const ids = task.requests.map(({record}) => record.id);
      this.trouble.reportTask(settlement.error, ids);
    } else {
      const {answers} = settlement;
      answered = {answers, text: new TaskText(answers.text, answers.memory)};
    }
    let base = 0;
    for (const [at, request] of task.requests.entries()) {
      const segment = task.segments[at] as Segment;
      try {
        if (!this.retrySegment(task, at, answered, base))
          this.completeSegment(request, segment, answered, base, outage);
      } catch (error) {
        this.fail(request, error);
      }
      base += segment.endCall - segment.firstCall;
    }
    answered?.text.release();
  }

  /** Fetches slots that a segment's calls lack. @returns whether it then runs again */
  private retrySegment(task: Task, at: number, answered: AnsweredTask | undefined, base: number): boolean {
    const request = task.requests[at] as PendingRequest;
    const segment = task.segments[at] as Segment;
    const {fetchSlots, perform} = this.options[segment.lane];
    if (!fetchSlots || !answered || request.isOver(segment)) return false;
    const end = base + segment.endCall - segment.firstCall;
    const missing = answered.answers.failures.flatMap(one =>
      one.failure === "SLOTS_MISSING" && one.call >= base && one.call < end ? [one] : [],
    );
    const [first] = missing;
    if (first === undefined || first.detail === segment.lacked) return false;
    segment.lacked = first.detail;
    const fetching = fetchSlots(missing, request.client);
    if (typeof fetching === "string") {
      segment.whyMissing = fetching;
      return false;
    }
    const {isLong = false} = task;
    const retry: Task = {requests: [request], segments: [segment], cost: segment.cost, isLong};
    void fetching.then(why => {
      segment.whyMissing = why;
      perform(retry, settlement => this.completeTask(retry, settlement));
    });
    request.progress[segment.lane].move(segment);
    this.recount(request);
    this.offer(request);
    return true;
  }

  /**
   * @param answered - undefined: the task failed
   * @param base - index of the segment's first call in the task
   * @param outage - why it failed. Default: for a cause that only the log names
   */
  private completeSegment(
    request: PendingRequest,
    segment: Segment,
    answered: AnsweredTask | undefined,
    base: number,
    outage?: RpcError,
  ): void {
    const isOver = request.isOver(segment);
    const lane = this.lanes[segment.lane];
    const progress = request.progress[segment.lane];
    const {unfinished, begun = base + 1} = answered?.answers ?? {};
    const isUnfinished = !isOver && unfinished?.includes(base) === true;
    if (isUnfinished) lane.chargeUnfinished(request.client);
    if (isUnfinished && lane.isTried(++segment.tries)) {
      // The call took longer than its slices. The long queue may reject it.
      progress.move(segment);
      lane.long?.add(request, segment);
    } else {
      progress.stop(segment);
      if (isUnfinished) progress.requeue(segment);
      else if (!isOver && base >= begun) {
        progress.requeue(segment);
        this.givenBack++;
      } else if (!isOver) {
        const pieces =
          answered === undefined
            ? this.answering.assembleErrors(request, segment, outage)
            : this.answering.assemble(request, segment, answered, base);
        this.answer(request, segment, pieces);
      }
    }
    this.recount(request);
    this.offer(request);
  }

  /** Runs `work` for a caller that serves other requests too, and must not get its error. */
  private attempt(request: PendingRequest, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.fail(request, error);
    }
  }

  /** Closes the connection of a request that met an error. */
  private fail(request: PendingRequest, error: unknown): void {
    this.trouble.reportThrown(error, request.record.id);
    try {
      this.drop(request);
      request.reply.close();
    } catch (second) {
      this.trouble.reportThrown(second, request.record.id);
    }
  }

  /** Rejects a long call, REJECTION_GAP_MS after the last one of the same client. */
  private rejectLater(request: PendingRequest, segment: Segment, busy: Busy): void {
    const {client} = request;
    const nowMs = performance.now();
    const dueMs = Math.max(nowMs, this.rejectedUntilMs.get(client) ?? 0) + REJECTION_GAP_MS;
    this.rejectedUntilMs.set(client, dueMs);
    setTimeout(() => {
      if (this.rejectedUntilMs.get(client) === dueMs) this.rejectedUntilMs.delete(client);
      this.attempt(request, () => this.rejectCall(request, segment, busy));
    }, dueMs - nowMs);
  }

  private rejectCall(request: PendingRequest, segment: Segment, busy: Busy): void {
    request.progress[segment.lane].stop(segment);
    if (request.isOver(segment)) return;
    if (!request.isBatch) {
      this.reject(request, busy);
      return;
    }
    this.answer(request, segment, this.answering.assembleErrors(request, segment, busy.error));
    this.offer(request);
  }

  /** Answers a request with HTTP 503. Nothing of its answer may have been sent. */
  private reject(request: PendingRequest, {error, retryAfterSeconds}: Busy): void {
    const text = this.answering.encodeRefusal(request, error);
    request.drop();
    this.unfinished.delete(request);
    this.recount(request);
    request.reply.sendBusy(text, retryAfterSeconds);
  }

  private answer(request: PendingRequest, segment: Segment, pieces: Piece[]): void {
    request.answer(segment, pieces);
    this.recount(request);
    if (request.ordered.isComplete) this.unfinished.delete(request);
  }

  private expireOverdue(): void {
    const nowMs = performance.now();
    for (const request of this.unfinished.listOverdue(nowMs)) {
      const error = createTimeoutError(this.limits.timeoutMs, Math.round(nowMs - request.clock.startedMs));
      this.attempt(request, () => this.endUnfinished(request, error));
    }
  }

  /** Answers every unanswered call with the error; later answers are ignored. Does nothing for a dropped request. */
  private endUnfinished(request: PendingRequest, error: RpcError): void {
    request.giveUp();
    this.forgetLong(request);
    for (const segment of request.segments)
      if (!request.isOver(segment))
        this.answer(request, segment, this.answering.assembleErrors(request, segment, error));
  }
}
