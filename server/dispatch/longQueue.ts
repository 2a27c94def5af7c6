/**
 * The queue of calls that their slices were too short for. On a long thread they begin again, and have all their time.
 *
 *   lane, first slices --> queue, where clients take turns --> a place on a long thread, whose calls take turns (estimate/turns.ts)
 *                      \-> refused if the wait would be too long
 *
 * A client has at most as many places as there are threads. So however many calls it has, another client's call gets a place
 * at once, and its share of a thread.
 */
import {ESTIMATE_COST, type Limits} from "../limits.ts";
import {QueueFigures} from "../observe/queueFigures.ts";
import type {RefusalLog} from "../observe/refusalLog.ts";
import {ClientCounts} from "../rpc/clientCounts.ts";
import {type Busy, findFull, refuseEntry} from "./busy.ts";
import {ClientQueue} from "./clientQueue.ts";
import type {PendingRequest} from "./pendingRequest.ts";
import type {OnSettled, Perform} from "./task.ts";

export interface LongOptions {
  /** A call comes here when so many slices were too short. */
  readonly tries: number;
  /** At least 1. */
  readonly threads: number;
  /** How many calls a thread makes at the same time. */
  readonly placesPerThread: number;
  /** About the longest time that a call takes of a thread. */
  readonly callMs: number;
  readonly perform: Perform;
}

interface LongCall {
  readonly client: string;
  readonly request: PendingRequest;
  /** Index of its segment, which has no other call. */
  readonly index: number;
  readonly sinceMs: number;
}

export class LongQueue {
  readonly figures: QueueFigures;
  private readonly queue = new ClientQueue<LongCall>();
  /** Calls that have a place, by client and in all. */
  private readonly placesOf = new ClientCounts();
  private places = 0;

  constructor(
    private readonly options: LongOptions,
    private readonly limits: Limits,
    private readonly refusals: RefusalLog,
    private readonly onSettled: OnSettled,
  ) {
    this.figures = new QueueFigures("long", options.callMs);
  }

  get waiting(): number {
    return this.queue.length;
  }

  /** Takes over a call that its slice did not finish. @returns undefined, or the error if the call is turned away */
  add(request: PendingRequest, index: number): Busy | undefined {
    const {client} = request;
    const busy = this.refuse(request);
    if (busy !== undefined) return busy;
    this.queue.push({client, request, index, sinceMs: performance.now()});
    this.start();
    return undefined;
  }

  /** Removes the waiting calls of a request that nobody waits for. Running calls end as usual. */
  forget(request: PendingRequest): void {
    this.queue.remove(request.client, call => call.request === request);
  }

  private start(): void {
    const mayStart = ({client}: LongCall): boolean => this.hasPlaceFor(client);
    for (let call = this.queue.shiftIf(mayStart); call !== undefined; call = this.queue.shiftIf(mayStart))
      this.run(call);
  }

  private run({client, request, index, sinceMs}: LongCall): void {
    const startMs = performance.now();
    this.figures.countStart(startMs - sinceMs);
    this.places++;
    this.placesOf.add(client, 1);
    const task = {requests: [request], indexes: [index], cost: ESTIMATE_COST};
    this.options.perform(task, settlement => {
      // Of a thread's calls, each has had its share.
      const share = Math.min(1, this.options.threads / this.places);
      this.figures.measure((performance.now() - startMs) * share);
      this.places--;
      this.placesOf.add(client, -1);
      this.onSettled(task, settlement);
      this.start();
    });
  }

  private hasPlaceFor(client: string): boolean {
    const {threads, placesPerThread} = this.options;
    return this.places < threads * placesPerThread && this.placesOf.of(client) < threads;
  }

  /** Expected time until a call that the client would add now begins. */
  private expectWaitMs(client: string): number {
    if (this.hasPlaceFor(client)) return 0;
    const ahead = this.queue.countAhead(client) + this.places;
    return (ahead / this.options.threads) * this.figures.serviceMs;
  }

  private refuse({client, clock}: PendingRequest): Busy | undefined {
    const {queueCost, timeoutMs} = this.limits;
    const own = this.queue.countOf(client) * ESTIMATE_COST;
    const full = findFull(own, this.queue.length * ESTIMATE_COST, queueCost);
    const waitMs = this.expectWaitMs(client);
    const leftMs = clock.leftMs(performance.now());
    if (full === undefined && waitMs <= leftMs) return undefined;
    const entry = {
      what: "an estimate that takes long",
      fullMessage: "too many estimates that take long are waiting",
      ...{cost: ESTIMATE_COST, full, waitMs, leftMs, retryMs: this.figures.serviceMs},
    };
    return refuseEntry(entry, "long", timeoutMs, this.refusals);
  }
}
