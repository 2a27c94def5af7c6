/**
 * One lane: a queue of requests, and the tasks made from their segments. Each time a request leaves the queue, one
 * segment starts.
 *
 *   offer -> queue of requests -> task of about `taskCost` -> perform
 *            ^ clients have equal shares, and so do a client's requests: a large batch does not delay a small call
 *
 * Where long tasks have yield points, at which a worker does short tasks, a request above `taskCost` has a task for
 * each segment. Calls of the same turn of the event loop share tasks: the queue is emptied (setImmediate) after all
 * input of the turn is read.
 */

import {assertInvariant} from "../../storage/invariant.ts";
import type {Settlement} from "../../workers/messages/answers.ts";
import {ClientCounts} from "../fairness/clientCounts.ts";
import type {Limits} from "../limits.ts";
import {QueueFigures, type QueueName} from "../observe/queueFigures.ts";
import type {RefusalLog} from "../observe/refusalLog.ts";
import {append, type LaneId} from "../request/requestCalls.ts";
import type {TaskAnswers} from "../request/taskText.ts";
import {type Busy, ClientCosts, refuseEntry} from "./admission.ts";
import {type LongOptions, LongQueue} from "./longQueue.ts";
import type {PendingRequest} from "./pendingRequest.ts";
import type {Segment} from "./segment.ts";
import type {FetchSlots, OnCompleted, OnRejected, Perform, Task} from "./task.ts";
import {WaitingRequests} from "./waitingRequests.ts";

/** A worker runs one task and has the next one ready. More would wait where the lane cannot reorder them. */
export const TASKS_PER_WORKER = 2;
/** A burst is spread over idle workers in tasks of at least this cost: a trip to a worker takes 13 to 20 us. */
const MIN_SHARED_COST = 8;
/** In ready or expected bytes. A few MB keep a fast reader and the workers busy at the same time. */
const MIN_WINDOW_BYTES = 4 * 2 ** 20;

export interface LaneOptions {
  /** What waits, for messages. */
  readonly work: string;
  /** How many tasks run at the same time, at least 1. */
  readonly workers: number;
  /** How many tasks may be handed to workers at the same time, at least `workers`. */
  readonly maxTasks: number;
  /** Highest cost of a task. A segment that costs more has a task of its own. */
  readonly taskCost: number;
  /** At the yield points of a long task, a worker does short ones. */
  readonly hasYieldPoints: boolean;
  /**
   * Half of the tasks are for clients that have none, and of the other half a client has at most as many as are free. So
   * the slow calls of a few clients do not take all. Tasks have one segment.
   */
  readonly leavesRoom?: boolean;
  /** A task has at most as many segments as recently ran in this time. Default: only the cost limits it. */
  readonly taskMs?: number;
  /** Of an answer's text, at most. */
  readonly bytesPerCost: number;
  /** Extra cost of a call that its task did not finish. Default: 0. */
  readonly unfinishedCost?: number;
  readonly queue: QueueName;
  /** The queue of calls that their task did not finish. Default: every task finishes its calls. */
  readonly long?: LongOptions;
  readonly perform: Perform;
  /** undefined: slots that the store lacks cannot be fetched. */
  readonly fetchSlots?: FetchSlots | undefined;
}

export class Lane {
  readonly long: LongQueue | undefined;
  /** Of all unfinished calls. For a request whose reader is slow, only its running segments count. */
  readonly costs: ClientCosts<PendingRequest>;
  private readonly windowBytes: number;
  private readonly waiting: WaitingRequests;
  readonly figures: QueueFigures;
  /** Without long tasks, which only a lane with yield points has. */
  private tasksUnderWay = 0;
  private longTasksUnderWay = 0;
  /** By client, where each leaves room for others. */
  private readonly clientTasks = new ClientCounts();
  private isFlushPlanned = false;
  /** When the last task ended, or one began when none was under way. */
  private drainedMs = 0;

  constructor(
    readonly id: LaneId,
    private readonly options: LaneOptions,
    private readonly limits: Limits,
    private readonly refusals: RefusalLog,
    private readonly onCompleted: OnCompleted,
    onRejected: OnRejected,
  ) {
    // Room for every task that a client may have, so that one large batch can use them all.
    const {maxTasks, taskCost, hasYieldPoints, bytesPerCost, queue, leavesRoom} = options;
    const clientTasks = leavesRoom === true ? maxTasks / 2 : maxTasks;
    this.windowBytes = Math.max(MIN_WINDOW_BYTES, clientTasks * taskCost * bytesPerCost);
    this.waiting = new WaitingRequests(id, hasYieldPoints ? taskCost : Number.POSITIVE_INFINITY);
    this.costs = new ClientCosts(limits.queueCost, this.waiting);
    this.figures = new QueueFigures(queue, 0);
    const {long} = options;
    this.long =
      long === undefined ? undefined : new LongQueue(long, limits, refusals, onCompleted, onRejected);
  }

  /** A queue with any room admits a request of any size. @returns why the client's new request is rejected */
  findBusy(cost: number, client: string): Busy | undefined {
    const {timeoutMs} = this.limits;
    const full = this.costs.findFull(client, cost);
    const waitMs = this.expectWaitMs(cost, client);
    if (full === undefined && waitMs <= timeoutMs) return undefined;
    return this.createBusy({full, cost, waitMs, isEvicted: false});
  }

  /** @returns a request that is evicted for the client's new one, and its answer. undefined: there is room */
  evictExcess(client: string): readonly [PendingRequest, Busy] | undefined {
    const request = this.costs.evictExcess(client);
    if (request === undefined) return undefined;
    request.progress[this.id].isQueued = false;
    const waitMs = this.expectWaitMs(this.options.taskCost, request.client);
    return [request, this.createBusy({full: this.costs.fill, cost: 0, waitMs, isEvicted: true})];
  }

  chargeUnfinished(client: string): void {
    this.waiting.small.charge(client, this.options.unfinishedCost ?? 0);
  }

  /** Whether a call goes to the long queue after this many tasks. If not, it starts again here. */
  isTried(tries: number): boolean {
    return tries >= (this.options.long?.tries ?? 1);
  }

  offer(request: PendingRequest): void {
    const progress = request.progress[this.id];
    if (progress.isQueued || !request.mayStart(this.id, this.windowBytes, this.options.bytesPerCost)) return;
    progress.isQueued = true;
    progress.queuedSinceMs = performance.now();
    this.waiting.push(request);
    this.planFlush();
  }

  recount(request: PendingRequest): void {
    const progress = request.progress[this.id];
    const cost = request.queuedCost(this.id);
    const change = cost - progress.countedCost;
    if (change === 0) return;
    progress.countedCost = cost;
    this.costs.add(request.client, change);
  }

  /** Expected time until a request that the client would add now begins its first call. */
  private expectWaitMs(cost: number, client: string): number {
    const {taskCost, leavesRoom} = this.options;
    if (leavesRoom === true && this.hasRoom && this.clientTasks.of(client) === 0) return 0;
    const queue = this.waiting.queueFor(cost);
    const ahead = queue.costAhead(client, this.costs.of(client), Math.min(cost, taskCost));
    return Math.min(ahead, this.costs.total) * this.figures.costMs;
  }

  private createBusy(
    entry: Pick<Parameters<typeof refuseEntry>[0], "full" | "cost" | "waitMs" | "isEvicted">,
  ): Busy {
    const {timeoutMs} = this.limits;
    const fullMessage = `the queue of ${this.options.work} is full`;
    const whole = {what: "the request", fullMessage, leftMs: timeoutMs, retryMs: entry.waitMs, ...entry};
    return refuseEntry(whole, this.figures.name, timeoutMs, this.refusals);
  }

  private get underWay(): number {
    return this.tasksUnderWay + this.longTasksUnderWay;
  }

  private get hasRoom(): boolean {
    return this.tasksUnderWay < this.options.maxTasks;
  }

  private get hasRoomForLong(): boolean {
    const {workers, maxTasks, taskCost} = this.options;
    const next = this.waiting.large.peek();
    if (next === undefined) return false;
    const cost = next.nextSegment(this.id)?.cost ?? 0;
    // A long task is not queued behind another task of a worker: a request that arrives meanwhile may go first.
    return this.longTasksUnderWay < (cost > taskCost ? workers : maxTasks);
  }

  private planFlush(): void {
    if (this.isFlushPlanned || !(this.hasRoom || this.hasRoomForLong)) return;
    this.isFlushPlanned = true;
    setImmediate(() => {
      this.isFlushPlanned = false;
      this.flush();
    });
  }

  private flush(): void {
    while (this.hasRoom) {
      const task = this.options.leavesRoom === true ? this.takeAllowedTask() : this.takeTask();
      if (task === undefined) break;
      this.run(task);
    }
    while (this.hasRoomForLong) {
      const task = this.takeLongTask();
      if (task !== undefined) this.run(task);
    }
  }

  /** The queue must not be empty. @returns undefined if its first request was aborted or given up */
  private takeLongTask(): Task | undefined {
    const request = this.waiting.large.shift() as PendingRequest;
    const segment = this.start(request, performance.now());
    return segment && {requests: [request], segments: [segment], cost: segment.cost, isLong: true};
  }

  private takeAllowedTask(): Task | undefined {
    const free = this.options.maxTasks / 2 - this.tasksUnderWay;
    const isAllowed = ({client}: PendingRequest): boolean => {
      const own = this.clientTasks.of(client);
      return own === 0 || own < free;
    };
    const {small} = this.waiting;
    for (let request = small.shiftIf(isAllowed); request !== undefined; request = small.shiftIf(isAllowed)) {
      const segment = this.start(request, performance.now());
      if (segment !== undefined) return {requests: [request], segments: [segment], cost: segment.cost};
    }
    return undefined;
  }

  private takeTask(): Task | undefined {
    let requests: PendingRequest[] = [];
    let segments: Segment[] = [];
    const share = Math.ceil(this.costs.total / this.options.workers);
    const wanted = Math.min(this.options.taskCost, Math.max(MIN_SHARED_COST, share));
    const {taskMs} = this.options;
    const most = taskMs === undefined ? Number.POSITIVE_INFINITY : taskMs / this.figures.serviceMs;
    const nowMs = performance.now();
    let cost = 0;
    const {small} = this.waiting;
    for (let request = small.peek(); request !== undefined; request = small.peek()) {
      const nextCost = request.nextSegment(this.id)?.cost ?? 0;
      if (cost > 0 && nextCost > 0 && (cost + nextCost > wanted || requests.length >= most)) break;
      small.shift();
      const segment = this.start(request, nowMs);
      if (segment === undefined) continue;
      cost += nextCost;
      requests = append(requests, request);
      segments = append(segments, segment);
    }
    return requests.length === 0 ? undefined : {requests, segments, cost};
  }

  /** Starts the next segment of a request that has left its queue. @returns undefined if none is left */
  private start(request: PendingRequest, nowMs: number): Segment | undefined {
    const progress = request.progress[this.id];
    progress.isQueued = false;
    if (request.nextSegment(this.id) === undefined) return undefined;
    // A request that was queued again for this task (below) has not waited: its queuedSinceMs is later than nowMs.
    this.figures.countStart(Math.max(0, nowMs - progress.queuedSinceMs));
    const segment = progress.start();
    this.recount(request);
    this.offer(request);
    return segment;
  }

  private run(task: Task): void {
    const startMs = performance.now();
    if (this.underWay === 0) this.drainedMs = startMs;
    this.countTask(task, 1);
    let isCompleted = false;
    const complete = (settlement: Settlement<TaskAnswers>): void => {
      isCompleted = true;
      this.complete(task, startMs, settlement);
    };
    try {
      this.options.perform(task, complete);
    } catch (error) {
      // The task is complete: what was thrown is an error of answering its requests.
      if (isCompleted) throw error;
      complete({error});
    }
  }

  private complete(task: Task, startMs: number, settlement: Settlement<TaskAnswers>): void {
    const begun = "answers" in settlement ? settlement.answers.begun : undefined;
    const {workers} = this.options;
    const {underWay} = this;
    const calls = Math.max(1, begun ?? task.requests.length);
    const nowMs = performance.now();
    // A thread runs one of its tasks at a time.
    this.figures.measure((nowMs - startMs) * Math.min(1, workers / underWay), calls);
    const cost = (task.cost * calls) / task.requests.length;
    this.figures.drain(nowMs - this.drainedMs, Math.min(1, underWay / workers), cost);
    this.drainedMs = nowMs;
    this.countTask(task, -1);
    this.onCompleted(task, settlement);
    if (this.waiting.length > 0) this.planFlush();
  }

  private countTask({isLong, requests}: Task, change: 1 | -1): void {
    if (this.options.leavesRoom === true)
      for (const {client} of requests) this.clientTasks.add(client, change);
    if (isLong === true) this.longTasksUnderWay += change;
    else this.tasksUnderWay += change;
    const isCounted = this.tasksUnderWay >= 0 && this.longTasksUnderWay >= 0;
    assertInvariant(isCounted, "the tasks under way in a lane are not negative");
  }
}
