/**
 * One lane: a queue of requests, each of which gives one segment a turn, and the tasks made of them.
 *
 *   offer -> queue of requests -> task of about TASK_COSTS[lane] -> perform
 *            ^ round robin, so a large batch and a small call share the lane
 *
 * Calls that arrive in the same turn of the event loop share tasks: the queue is emptied after the turn's input
 * (setImmediate), not at each arrival.
 */
import {Fifo} from "./fifo.ts";
import type {LaneId} from "./laneId.ts";
import type {PendingRequest} from "./pendingRequest.ts";
import type {TaskAnswers} from "./requestCalls.ts";
import {TASK_COSTS} from "./segment.ts";
import type {Task} from "./task.ts";

/** Of `maxTasks`: one is worked on, the next is there when it ends; more would take the order out of our hands. */
export const TASKS_PER_WORKER = 2;
/** Below it the trip to a worker (13-20 us) would outweigh the work of spreading a burst over idle ones. */
const MIN_SHARED_COST = 8;
/** Ready or expected bytes of one request, at least; a few MB let a fast reader go on while its workers do. */
const MIN_WINDOW_BYTES = 4 * 2 ** 20;

export interface LaneOptions {
  /** How many tasks are worked on at the same time, at least 1. */
  readonly workers: number;
  /** Under way at the same time, at least `workers`. */
  readonly maxTasks: number;
  /** Upper bound of an answer's text per unit of cost. */
  readonly bytesPerCost: number;
  readonly perform: (task: Task) => Promise<TaskAnswers>;
}

/** @param answers - null: the task failed with `error` */
export type OnSettled = (task: Task, answers: TaskAnswers | null, error: unknown) => void;

export class Lane {
  readonly id: LaneId;
  /** Cost of all admitted and unfinished calls; of requests whose reader is slow only what is under way. */
  queuedCost = 0;
  readonly #options: LaneOptions;
  readonly #onSettled: OnSettled;
  readonly #windowBytes: number;
  readonly #queue = new Fifo<PendingRequest>();
  #tasksUnderWay = 0;
  #isFlushPlanned = false;

  constructor(id: LaneId, options: LaneOptions, onSettled: OnSettled) {
    this.id = id;
    this.#options = options;
    this.#onSettled = onSettled;
    // Room for every worker's tasks, so that one large batch can use them all.
    const {maxTasks, bytesPerCost} = options;
    this.#windowBytes = Math.max(MIN_WINDOW_BYTES, maxTasks * TASK_COSTS[id] * bytesPerCost);
  }

  /** Queues the request where its next segment may start. */
  offer(request: PendingRequest): void {
    const progress = request.progress[this.id];
    if (progress.isQueued || !request.mayStart(this.id, this.#windowBytes, this.#options.bytesPerCost))
      return;
    progress.isQueued = true;
    this.#queue.push(request);
    this.#planFlush();
  }

  /** Brings the request's part of `queuedCost` up to date. */
  recount(request: PendingRequest): void {
    const progress = request.progress[this.id];
    const share = request.queueShare(this.id);
    this.queuedCost += share - progress.countedShare;
    progress.countedShare = share;
  }

  #planFlush(): void {
    if (this.#isFlushPlanned || this.#tasksUnderWay >= this.#options.maxTasks) return;
    this.#isFlushPlanned = true;
    setImmediate(() => {
      this.#isFlushPlanned = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (this.#tasksUnderWay < this.#options.maxTasks) {
      const task = this.#takeTask();
      if (task === null) return;
      this.#run(task);
    }
  }

  #takeTask(): Task | null {
    const requests: PendingRequest[] = [];
    const indexes: number[] = [];
    const share = Math.ceil(this.queuedCost / this.#options.workers);
    const wanted = Math.min(TASK_COSTS[this.id], Math.max(MIN_SHARED_COST, share));
    let cost = 0;
    for (let request = this.#queue.peek(); request !== undefined; request = this.#queue.peek()) {
      const next = request.nextSegment(this.id);
      if (next !== undefined && cost > 0 && cost + next.cost > wanted) break;
      this.#queue.shift();
      request.progress[this.id].isQueued = false;
      // Aborted, or given up meanwhile.
      if (next === undefined) continue;
      cost += next.cost;
      requests.push(request);
      indexes.push(request.start(this.id));
      this.recount(request);
      this.offer(request);
    }
    return requests.length === 0 ? null : {requests, indexes, cost};
  }

  async #run(task: Task): Promise<void> {
    this.#tasksUnderWay++;
    let answers: TaskAnswers | null = null;
    let failure: unknown = null;
    try {
      answers = await this.#options.perform(task);
    } catch (error) {
      failure = error;
    }
    this.#tasksUnderWay--;
    this.#onSettled(task, answers, failure);
    if (this.#queue.length > 0) this.#planFlush();
  }
}
