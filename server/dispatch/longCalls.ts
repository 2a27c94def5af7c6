/**
 * The way of an estimate that its first slice was too short for:
 *
 *   lane, first slice --> second queue --> a short thread, 50 ms --> long queue --> a long thread, all its time
 *                     \-> refused                               \-> refused          where the wait would be too long
 *
 * On the short threads first slices go first: a second slice begins where no call waits for its first, or where the second
 * slices have had less than a quarter of the time.
 */
import {ESTIMATE_COST, type Limits} from "../limits.ts";
import type {RefusalLog} from "../observe/refusalLog.ts";
import {RpcCode, RpcError} from "../rpc/rpcError.ts";
import {type Busy, createWaitError, hasRoom, toSeconds} from "./busy.ts";
import type {PendingRequest} from "./pendingRequest.ts";
import {type OnSettled, type SliceOptions, SliceQueue} from "./sliceQueue.ts";

/** A second slice is paid for by so many times its length of first ones, where there are some. */
const FIRST_PER_SECOND = 3;

export interface LongCallOptions {
  readonly second: SliceOptions;
  readonly long: SliceOptions;
}

export class LongCalls {
  readonly second: SliceQueue;
  readonly long: SliceQueue;
  private readonly limits: Limits;
  private readonly refusals: RefusalLog;
  private readonly isFirstWaiting: () => boolean;
  /** Before it a second slice gives way to first ones. */
  private nextSecondMs = 0;

  /**
   * @param onSettled - a slice was over, or its call
   * @param isFirstWaiting - does a call wait for its first slice?
   */
  constructor(
    {second, long}: LongCallOptions,
    limits: Limits,
    refusals: RefusalLog,
    onSettled: OnSettled,
    isFirstWaiting: () => boolean,
  ) {
    this.long = new SliceQueue("long", long, null, onSettled);
    this.second = new SliceQueue("second", second, this.long, onSettled);
    this.limits = limits;
    this.refusals = refusals;
    this.isFirstWaiting = isFirstWaiting;
  }

  /** Takes over a call that was not finished in time. @returns null, or why it is turned away */
  add(queue: SliceQueue, request: PendingRequest, index: number): Busy | null {
    const busy = this.refuse(queue, request);
    if (busy === null) queue.add(request, index);
    return busy;
  }

  /** Nobody waits for the request any more; what is under way for it ends as it would. */
  forget(request: PendingRequest): void {
    this.second.forget(request);
    this.long.forget(request);
  }

  /** Starts what may start: after everything that changes what waits or is under way. */
  start(): void {
    while (this.long.mayStart) this.run(this.long);
    while (this.second.mayStart && (!this.isFirstWaiting() || performance.now() >= this.nextSecondMs))
      this.run(this.second);
  }

  private run(queue: SliceQueue): void {
    // It settles every failure itself.
    queue.run().then(tookMs => {
      if (queue === this.second) this.nextSecondMs = performance.now() + FIRST_PER_SECOND * tookMs;
      this.start();
    });
  }

  private refuse(queue: SliceQueue, request: PendingRequest): Busy | null {
    const {queueCost, timeoutMs} = this.limits;
    const {client} = request;
    const cost = (this.second.waiting + this.long.waiting) * ESTIMATE_COST;
    const isNew = !this.second.has(client) && !this.long.has(client);
    if (!hasRoom(cost, queueCost, isNew)) {
      const message = "too many estimates that take long are waiting: try again later";
      const error = new RpcError(RpcCode.LIMIT_EXCEEDED, message, {
        limit: queueCost,
        got: cost + ESTIMATE_COST,
      });
      this.refusals.note(queue.figures.name, "queue_full", queue.expectWaitMs(client));
      return {error, retryAfterSeconds: toSeconds(queue.figures.serviceMs)};
    }
    const waitMs = queue.expectWaitMs(client);
    const leftMs = request.clock.leftMs(performance.now());
    if (waitMs <= leftMs) return null;
    this.refusals.note(queue.figures.name, "wait", waitMs);
    return createWaitError("an estimate that takes long", waitMs, timeoutMs, leftMs);
  }
}
