/**
 * The queue of calls that their slices were too short for. On a long thread they begin again, and have all their time.
 *
 *   lane, first slices --> queue, clients have equal shares --> a place on a long thread, whose calls take turns (estimate/turns.ts)
 *                      \-> refused if the wait would be too long
 *
 * A client has at most as many places as there are threads. So however many calls it has, another client's call gets a place
 * at once, and its share of a thread. Calls cost the time that they took: of many clients, the one that took least is next.
 */

import {ClientCounts} from "../fairness/clientCounts.ts";
import {ClientQueue} from "../fairness/clientQueue.ts";
import {ESTIMATE_COST, type Limits} from "../limits.ts";
import {QueueFigures} from "../observe/queueFigures.ts";
import type {RefusalLog} from "../observe/refusalLog.ts";
import {type Busy, ClientCosts, refuseEntry} from "./busy.ts";
import type {PendingRequest} from "./pendingRequest.ts";
import type {OnSettled, OnTurnedAway, Perform} from "./task.ts";

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
  /** By milliseconds, which count at a call's end. */
  private readonly queue = new ClientQueue<LongCall>();
  /** Of the calls that wait. */
  private readonly costs: ClientCosts<LongCall>;
  /** Calls that have a place, by client and in all. */
  private readonly placesOf = new ClientCounts();
  private places = 0;

  constructor(
    private readonly options: LongOptions,
    private readonly limits: Limits,
    private readonly refusals: RefusalLog,
    private readonly onSettled: OnSettled,
    private readonly onTurnedAway: OnTurnedAway,
  ) {
    this.figures = new QueueFigures("long", options.callMs);
    this.costs = new ClientCosts(limits.queueCost, this.queue);
  }

  get waiting(): number {
    return this.queue.length;
  }

  /** Takes over a call that its slice did not finish. It, or another one, may be turned away. */
  add(request: PendingRequest, index: number): void {
    const {client} = request;
    const busy = this.refuse(request);
    if (busy !== undefined) {
      this.onTurnedAway(request, index, busy);
      return;
    }
    this.queue.push({client, request, index, sinceMs: performance.now()});
    this.costs.add(client, ESTIMATE_COST);
    this.start();
    for (let call = this.costs.takeExcess(client); call !== undefined; call = this.costs.takeExcess(client)) {
      this.costs.add(call.client, -ESTIMATE_COST);
      this.onTurnedAway(call.request, call.index, this.createBusy(call.request, this.costs.fill, true));
    }
  }

  /** Removes the waiting calls of a request that nobody waits for. Running calls end as usual. */
  forget(request: PendingRequest): void {
    const {client} = request;
    const before = this.queue.countOf(client);
    if (before === 0) return;
    this.queue.remove(client, call => call.request === request);
    this.costs.add(client, (this.queue.countOf(client) - before) * ESTIMATE_COST);
  }

  private start(): void {
    const mayStart = ({client}: LongCall): boolean => this.hasPlaceFor(client);
    for (let call = this.queue.shiftIf(mayStart); call !== undefined; call = this.queue.shiftIf(mayStart))
      this.run(call);
  }

  private run({client, request, index, sinceMs}: LongCall): void {
    const startMs = performance.now();
    this.costs.add(client, -ESTIMATE_COST);
    this.figures.countStart(startMs - sinceMs);
    this.places++;
    this.placesOf.add(client, 1);
    const task = {requests: [request], indexes: [index], cost: ESTIMATE_COST};
    this.options.perform(task, settlement => {
      // Of a thread's calls, each has had its share.
      const share = Math.min(1, this.options.threads / this.places);
      const tookMs = (performance.now() - startMs) * share;
      this.queue.charge(client, tookMs);
      this.figures.measure(tookMs, 1);
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
    const {serviceMs} = this.figures;
    const ownMs = this.queue.countOf(client) * serviceMs;
    const aheadMs = Math.min(this.queue.costAhead(client, ownMs, serviceMs), this.queue.length * serviceMs);
    return (aheadMs + this.places * serviceMs) / this.options.threads;
  }

  private refuse(request: PendingRequest): Busy | undefined {
    const {client, clock} = request;
    const full = this.costs.findFull(client, ESTIMATE_COST);
    if (full === undefined && this.expectWaitMs(client) <= clock.leftMs(performance.now())) return undefined;
    return this.createBusy(request, full, false);
  }

  private createBusy(
    {client, clock}: PendingRequest,
    full: ReturnType<typeof this.costs.findFull>,
    isGivingWay: boolean,
  ): Busy {
    const entry = {
      what: "an estimate that takes long",
      fullMessage: "too many estimates that take long are waiting",
      ...{cost: isGivingWay ? 0 : ESTIMATE_COST, full, isGivingWay, waitMs: this.expectWaitMs(client)},
      ...{leftMs: clock.leftMs(performance.now()), retryMs: this.figures.serviceMs},
    };
    return refuseEntry(entry, "long", this.limits.timeoutMs, this.refusals);
  }
}
