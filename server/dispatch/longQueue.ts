/**
 * Calls that did not end within their slices. They begin again on a long thread, with their full time limit.
 *
 *   lane, first slices --> queue, equal shares for clients --> a slot on a long thread (estimate/turns.ts)
 *                      \-> rejected if the wait would be too long
 *
 * Each thread has several slots. A client may use at most as many slots as there are threads, which leaves slots for
 * others. A call costs the time that it took.
 */

import {ClientCounts} from "../fairness/clientCounts.ts";
import {ClientQueue} from "../fairness/clientQueue.ts";
import {ESTIMATE_COST, type Limits} from "../limits.ts";
import {QueueFigures} from "../observe/queueFigures.ts";
import type {RefusalLog} from "../observe/refusalLog.ts";
import {type Busy, ClientCosts, refuseEntry} from "./admission.ts";
import type {PendingRequest} from "./pendingRequest.ts";
import type {Segment} from "./segment.ts";
import type {OnCompleted, OnRejected, Perform, Task} from "./task.ts";

export interface LongOptions {
  /** A call comes here after this many slices. */
  readonly tries: number;
  readonly threads: number;
  readonly slotsPerThread: number;
  /** Taken to be the time of a call until one has ended. */
  readonly callMs: number;
  readonly perform: Perform;
}

interface LongCall {
  readonly client: string;
  readonly request: PendingRequest;
  /** Has no other call. */
  readonly segment: Segment;
  readonly sinceMs: number;
}

export class LongQueue {
  readonly figures: QueueFigures;
  /** Its costs are milliseconds, charged at the end of a call. */
  private readonly queue = new ClientQueue<LongCall>();
  private readonly costs: ClientCosts<LongCall>;
  /** Slots in use, by client and in total. */
  private readonly usedBy = new ClientCounts();
  private slots = 0;

  constructor(
    private readonly options: LongOptions,
    private readonly limits: Limits,
    private readonly refusals: RefusalLog,
    private readonly onCompleted: OnCompleted,
    private readonly onRejected: OnRejected,
  ) {
    this.figures = new QueueFigures("long", options.callMs);
    this.costs = new ClientCosts(limits.queueCost, this.queue);
  }

  get waiting(): number {
    return this.queue.length;
  }

  /** Adds a call. It, or another one, may be rejected. */
  add(request: PendingRequest, segment: Segment): void {
    const {client} = request;
    const busy = this.findBusy(request);
    if (busy !== undefined) {
      this.onRejected(request, segment, busy);
      return;
    }
    this.queue.push({client, request, segment, sinceMs: performance.now()});
    this.costs.add(client, ESTIMATE_COST);
    this.start();
    for (
      let call = this.costs.evictExcess(client);
      call !== undefined;
      call = this.costs.evictExcess(client)
    ) {
      this.costs.add(call.client, -ESTIMATE_COST);
      this.onRejected(call.request, call.segment, this.createBusy(call.request, this.costs.fill, true));
    }
  }

  /** Removes the waiting calls of a request whose client has gone. Running calls end as usual. */
  forget(request: PendingRequest): void {
    const {client} = request;
    const before = this.queue.countOf(client);
    if (before === 0) return;
    this.queue.remove(client, call => call.request === request);
    this.costs.add(client, (this.queue.countOf(client) - before) * ESTIMATE_COST);
  }

  private start(): void {
    const mayStart = ({client}: LongCall): boolean => this.hasSlotFor(client);
    for (let call = this.queue.shiftIf(mayStart); call !== undefined; call = this.queue.shiftIf(mayStart))
      this.run(call);
  }

  private run({client, request, segment, sinceMs}: LongCall): void {
    const startMs = performance.now();
    this.costs.add(client, -ESTIMATE_COST);
    this.figures.countStart(startMs - sinceMs);
    this.slots++;
    this.usedBy.add(client, 1);
    const task: Task = {requests: [request], segments: [segment], cost: ESTIMATE_COST, isLong: true};
    this.options.perform(task, settlement => {
      // The calls of a thread share its time.
      const share = Math.min(1, this.options.threads / this.slots);
      const tookMs = (performance.now() - startMs) * share;
      this.queue.charge(client, tookMs);
      this.figures.measure(tookMs, 1);
      this.slots--;
      this.usedBy.add(client, -1);
      this.onCompleted(task, settlement);
      this.start();
    });
  }

  private hasSlotFor(client: string): boolean {
    const {threads, slotsPerThread} = this.options;
    return this.slots < threads * slotsPerThread && this.usedBy.of(client) < threads;
  }

  /** Expected time until a call that the client would add now begins. */
  private expectWaitMs(client: string): number {
    if (this.hasSlotFor(client)) return 0;
    const {serviceMs} = this.figures;
    const ownMs = this.queue.countOf(client) * serviceMs;
    const aheadMs = Math.min(this.queue.costAhead(client, ownMs, serviceMs), this.queue.length * serviceMs);
    return (aheadMs + this.slots * serviceMs) / this.options.threads;
  }

  private findBusy(request: PendingRequest): Busy | undefined {
    const {client, clock} = request;
    const full = this.costs.findFull(client, ESTIMATE_COST);
    if (full === undefined && this.expectWaitMs(client) <= clock.leftMs(performance.now())) return undefined;
    return this.createBusy(request, full, false);
  }

  private createBusy(
    {client, clock}: PendingRequest,
    full: ReturnType<typeof this.costs.findFull>,
    isEvicted: boolean,
  ): Busy {
    const entry = {
      what: "an estimate or call that takes long",
      fullMessage: "too many estimates and calls that take long are waiting",
      ...{cost: isEvicted ? 0 : ESTIMATE_COST, full, isEvicted, waitMs: this.expectWaitMs(client)},
      ...{leftMs: clock.leftMs(performance.now()), retryMs: this.figures.serviceMs},
    };
    return refuseEntry(entry, "long", this.limits.timeoutMs, this.refusals);
  }
}
