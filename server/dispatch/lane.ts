/**
 * One lane: a queue of requests, and the tasks that are made from their segments. At its turn, a request gives one segment.
 *
 *   offer -> queue of requests -> task of about `taskCost` -> perform
 *            ^ clients have equal shares, and the requests of a client take turns. So a large batch and a small call share the lane
 *
 * Where workers take breaks in long tasks, each segment of a request that costs more than `taskCost` is a task of its own. A worker does
 * short tasks in the breaks.
 *
 * Calls that arrive in the same turn of the event loop share tasks, because the queue is emptied (setImmediate) after all
 * input of that turn is read.
 */

import type {Settlement} from "../../workers/messages/answers.ts";
import {assertInvariant} from "../invariant.ts";
import type {Limits} from "../limits.ts";
import {QueueFigures, type QueueName} from "../observe/queueFigures.ts";
import type {RefusalLog} from "../observe/refusalLog.ts";
import {append, type LaneId} from "../request/requestCalls.ts";
import type {TaskAnswers} from "../request/taskText.ts";
import {type Busy, ClientCosts, refuseEntry} from "./busy.ts";
import {type LongOptions, LongQueue} from "./longQueue.ts";
import type {PendingRequest} from "./pendingRequest.ts";
import type {OnSettled, OnTurnedAway, Perform, Task} from "./task.ts";
import {WaitingRequests} from "./waitingRequests.ts";

/** For `maxTasks`: a worker runs one task and has the next one ready. Any more would wait where the lane cannot order them. */
export const TASKS_PER_WORKER = 2;
/** A burst is spread over idle workers in tasks of at least this cost. Less is not worth the trip to a worker (13-20 us). */
const MIN_SHARED_COST = 8;
/** Least window of a request, in ready or expected bytes. A few MB keep a fast reader and the workers busy at the same time. */
const MIN_WINDOW_BYTES = 4 * 2 ** 20;

export interface LaneOptions {
  readonly method: string;
  /** How many tasks run at the same time, at least 1. */
  readonly workers: number;
  /** How many tasks may be handed to workers at the same time, at least `workers`. */
  readonly maxTasks: number;
  /** Highest cost of a task. A segment that costs more has a task of its own. */
  readonly taskCost: number;
  /** A worker answers short tasks in the breaks of a long one. */
  readonly hasBreaks: boolean;
  /** A task takes at most the segments that recently ran in this time. undefined: only the cost limits it. */
  readonly taskMs: number | undefined;
  /** Upper bound of an answer's text per unit of cost. */
  readonly bytesPerCost: number;
  /** Of a call that its task did not finish, what it took more than its cost. */
  readonly unfinishedCost: number;
  readonly queue: QueueName;
  /** Of calls that their task did not finish. undefined: every task finishes its calls. */
  readonly long: LongOptions | undefined;
  readonly perform: Perform;
}

export class Lane {
  readonly long: LongQueue | undefined;
  /** Of all admitted and unfinished calls. For a request whose reader is slow, only its running segments count. */
  readonly costs: ClientCosts<PendingRequest>;
  private readonly windowBytes: number;
  private readonly waiting: WaitingRequests;
  readonly figures: QueueFigures;
  /** Short ones, and all of a lane without breaks. */
  private tasksUnderWay = 0;
  private longTasksUnderWay = 0;
  private isFlushPlanned = false;
  /** When the last task ended, or one began when none was under way. */
  private drainedMs = 0;

  constructor(
    readonly id: LaneId,
    private readonly options: LaneOptions,
    private readonly limits: Limits,
    private readonly refusals: RefusalLog,
    private readonly onSettled: OnSettled,
    onTurnedAway: OnTurnedAway,
  ) {
    // Room for every worker's tasks, so that one large batch can use them all.
    const {maxTasks, taskCost, hasBreaks, bytesPerCost, queue} = options;
    this.windowBytes = Math.max(MIN_WINDOW_BYTES, maxTasks * taskCost * bytesPerCost);
    this.waiting = new WaitingRequests(id, hasBreaks ? taskCost : Number.POSITIVE_INFINITY);
    this.costs = new ClientCosts(limits.queueCost, this.waiting);
    this.figures = new QueueFigures(queue, 0);
    const {long} = options;
    this.long =
      long === undefined ? undefined : new LongQueue(long, limits, refusals, onSettled, onTurnedAway);
  }

  /** @param cost - of the client's new request. A queue with any room takes a request of every size */
  refuse(cost: number, client: string): Busy | undefined {
    const {timeoutMs} = this.limits;
    const full = this.costs.findFull(client, cost);
    const waitMs = this.expectWaitMs(cost, client);
    if (full === undefined && waitMs <= timeoutMs) return undefined;
    return this.createBusy({full, cost, waitMs, isGivingWay: false});
  }

  /** @returns a waiting request that must give way now that a client has added its own, and the answer to it. undefined: there is room */
  takeExcess(client: string): readonly [PendingRequest, Busy] | undefined {
    const request = this.costs.takeExcess(client);
    if (request === undefined) return undefined;
    request.progress[this.id].isQueued = false;
    const waitMs = this.expectWaitMs(this.options.taskCost, request.client);
    return [request, this.createBusy({full: this.costs.fill, cost: 0, waitMs, isGivingWay: true})];
  }

  /** Counts a call of the client that its task did not finish. */
  chargeUnfinished(client: string): void {
    this.waiting.small.charge(client, this.options.unfinishedCost);
  }

  /** Whether a call that so many tasks did not finish goes to the long queue. If not, it starts again here. */
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
    const {taskCost} = this.options;
    const queue = this.waiting.queueFor(cost);
    const ahead = queue.costAhead(client, this.costs.of(client), Math.min(cost, taskCost));
    return Math.min(ahead, this.costs.total) * this.figures.costMs;
  }

  private createBusy(
    entry: Pick<Parameters<typeof refuseEntry>[0], "full" | "cost" | "waitMs" | "isGivingWay">,
  ): Busy {
    const {timeoutMs} = this.limits;
    const fullMessage = `the queue of ${this.options.method} is full`;
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
    // One that takes long is not handed over to wait behind another task: what comes meanwhile may have its turn first.
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

  /** Short tasks first: a worker without any task is best for them. */
  private flush(): void {
    while (this.hasRoom) {
      const task = this.takeTask();
      if (task === undefined) break;
      this.run(task);
    }
    while (this.hasRoomForLong) {
      const task = this.takeLongTask();
      if (task !== undefined) this.run(task);
    }
  }

  /** The queue must not be empty. @returns undefined: its first request was aborted or given up */
  private takeLongTask(): Task | undefined {
    const request = this.waiting.large.shift() as PendingRequest;
    const cost = request.nextSegment(this.id)?.cost ?? 0;
    const index = this.start(request, performance.now());
    return index === undefined ? undefined : {requests: [request], indexes: [index], cost, isLong: true};
  }

  private takeTask(): Task | undefined {
    let requests: PendingRequest[] = [];
    let indexes: number[] = [];
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
      const index = this.start(request, nowMs);
      if (index === undefined) continue;
      cost += nextCost;
      requests = append(requests, request);
      indexes = append(indexes, index);
    }
    return requests.length === 0 ? undefined : {requests, indexes, cost};
  }

  /** Starts the next segment of a request that has left its queue. @returns its index. undefined: it was aborted or given up */
  private start(request: PendingRequest, nowMs: number): number | undefined {
    const progress = request.progress[this.id];
    progress.isQueued = false;
    if (request.nextSegment(this.id) === undefined) return undefined;
    // A request that was queued again for this task, a few lines below, has not waited. Its moment is later than nowMs.
    this.figures.countStart(Math.max(0, nowMs - progress.queuedSinceMs));
    const index = progress.start();
    this.recount(request);
    this.offer(request);
    return index;
  }

  private run(task: Task): void {
    const startMs = performance.now();
    if (this.underWay === 0) this.drainedMs = startMs;
    this.countTask(task, 1);
    let isSettled = false;
    const settle = (settlement: Settlement<TaskAnswers>): void => {
      isSettled = true;
      this.settle(task, startMs, settlement);
    };
    try {
      this.options.perform(task, settle);
    } catch (error) {
      // An error of the answering has come through `perform`: the task has ended before.
      if (isSettled) throw error;
      settle({error});
    }
  }

  private settle(task: Task, startMs: number, settlement: Settlement<TaskAnswers>): void {
    const begun = "answers" in settlement ? settlement.answers.begun : undefined;
    const {workers} = this.options;
    const {underWay} = this;
    const calls = Math.max(1, begun ?? task.requests.length);
    const nowMs = performance.now();
    // Of a thread's tasks, one waits for the others.
    this.figures.measure((nowMs - startMs) * Math.min(1, workers / underWay), calls);
    const cost = (task.cost * calls) / task.requests.length;
    this.figures.drain(nowMs - this.drainedMs, Math.min(1, underWay / workers), cost);
    this.drainedMs = nowMs;
    this.countTask(task, -1);
    this.onSettled(task, settlement);
    if (this.waiting.length > 0) this.planFlush();
  }

  private countTask({isLong}: Task, change: 1 | -1): void {
    if (isLong === true) this.longTasksUnderWay += change;
    else this.tasksUnderWay += change;
    const isCounted = this.tasksUnderWay >= 0 && this.longTasksUnderWay >= 0;
    assertInvariant(isCounted, `lane ${this.figures.name}: tasks under way are not negative`);
  }
}
