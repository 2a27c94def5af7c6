/** A queue of calls whose last slice was too short. They wait for a longer slice, one call per task. */

import type {Settlement} from "../../workers/job/answers.ts";
import type {PausedEstimate} from "../../workers/job/pausedEstimate.ts";
import {ESTIMATE_COST} from "../limits.ts";
import {QueueFigures, type QueueName} from "../observe/queueFigures.ts";
import type {TaskAnswers} from "../request/taskAnswers.ts";
import {ClientQueue} from "./clientQueue.ts";
import type {PausedCalls} from "./pausedCalls.ts";
import type {PendingRequest} from "./pendingRequest.ts";
import {settleTask, type Task} from "./task.ts";

/** Takes over a task that has ended. @param next - the queue for calls that were not finished. undefined: there are none */
export type OnSettled = (
  task: Task,
  settlement: Settlement<TaskAnswers>,
  next: SliceQueue | undefined,
) => void;

export interface SliceOptions {
  /** How many calls run at the same time, at least 1. */
  readonly workers: number;
  /** About the longest time that a call takes. */
  readonly sliceMs: number;
  readonly perform: (task: Task) => Promise<TaskAnswers>;
}

interface WaitingCall {
  readonly client: string;
  readonly request: PendingRequest;
  /** Index of its segment, which has no other call. */
  readonly index: number;
  readonly sinceMs: number;
}

export class SliceQueue {
  readonly figures: QueueFigures;
  private readonly queue = new ClientQueue<WaitingCall>();
  private underWay = 0;

  constructor(
    name: QueueName,
    private readonly options: SliceOptions,
    private readonly next: SliceQueue | undefined,
    private readonly pausedCalls: PausedCalls,
    private readonly onSettled: OnSettled,
  ) {
    this.figures = new QueueFigures(name, options.sliceMs);
  }

  get waiting(): number {
    return this.queue.length;
  }

  get mayStart(): boolean {
    return this.queue.length > 0 && this.underWay < this.options.workers;
  }

  countOf(client: string): number {
    return this.queue.countOf(client);
  }

  /** Expected time until a call that the client would add now begins. */
  expectWaitMs(client: string): number {
    const {workers} = this.options;
    if (this.underWay < workers && this.queue.length === 0) return 0;
    const ahead = this.queue.countAhead(client) + this.underWay;
    return (ahead / workers) * this.figures.serviceMs;
  }

  add(request: PendingRequest, index: number, paused: PausedEstimate | undefined): void {
    const call = {client: request.client, request, index, sinceMs: performance.now()};
    this.queue.push(call);
    this.pausedCalls.keep(call, paused);
  }

  /** Removes the calls of a request that nobody waits for. */
  forget(request: PendingRequest): void {
    this.queue.remove(request.client, call => {
      const isUnwanted = call.request === request;
      if (isUnwanted) this.pausedCalls.take(call);
      return isUnwanted;
    });
  }

  /** Runs the next call. There must be one, and a free worker. @returns milliseconds that it took */
  async run(): Promise<number> {
    const call = this.queue.shift() as WaitingCall;
    const {request, index, sinceMs} = call;
    const startMs = performance.now();
    this.figures.countStart(startMs - sinceMs);
    this.underWay++;
    const paused = this.pausedCalls.take(call);
    const task = {requests: [request], indexes: [index], cost: ESTIMATE_COST, paused};
    const settlement = await settleTask(task, this.options.perform);
    this.underWay--;
    const tookMs = performance.now() - startMs;
    this.figures.measure(tookMs);
    this.onSettled(task, settlement, this.next);
    return tookMs;
  }
}
