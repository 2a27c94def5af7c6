/**
 * What happens to an estimate that its first slice was too short for:
 *
 *   lane, first slice --> second queue --> a short thread, 50 ms --> long queue --> a long thread, all its time
 *                     \-> refused                               \-> refused          if the wait would be too long
 *
 * On the short threads, first slices have priority. A second slice begins when no call waits for its first slice, or when
 * second slices have had less than a quarter of the time.
 */
import type {PausedEstimate} from "../../workers/job/pausedEstimate.ts";
import {ESTIMATE_COST, type Limits} from "../limits.ts";
import type {RefusalLog} from "../observe/refusalLog.ts";
import {RpcCode, RpcError} from "../rpc/rpcError.ts";
import {type Busy, createWaitError, findFull, toSeconds} from "./busy.ts";
import {PausedCalls} from "./pausedCalls.ts";
import type {PendingRequest} from "./pendingRequest.ts";
import {type OnSettled, type SliceOptions, SliceQueue} from "./sliceQueue.ts";

/** After a second slice, waiting first slices get this many times its length. */
const FIRST_PER_SECOND = 3;

export interface LongCallOptions {
  readonly second: SliceOptions;
  readonly long: SliceOptions;
}

export class LongCalls {
  readonly second: SliceQueue;
  readonly long: SliceQueue;
  readonly pausedCalls = new PausedCalls();
  /** Until then, waiting first slices go before a second slice. */
  private nextSecondMs = 0;

  /**
   * @param onSettled - called when a slice or its call is over
   * @param isFirstWaiting - tells whether a call waits for its first slice
   */
  constructor(
    {second, long}: LongCallOptions,
    private readonly limits: Limits,
    private readonly refusals: RefusalLog,
    onSettled: OnSettled,
    private readonly isFirstWaiting: () => boolean,
  ) {
    this.long = new SliceQueue("long", long, undefined, this.pausedCalls, onSettled);
    this.second = new SliceQueue("second", second, this.long, this.pausedCalls, onSettled);
  }

  /** Takes over a call that its slice did not finish. @returns undefined, or the error if the call is turned away */
  add(
    queue: SliceQueue,
    request: PendingRequest,
    index: number,
    paused: PausedEstimate | undefined,
  ): Busy | undefined {
    const busy = this.refuse(queue, request);
    if (busy === undefined) queue.add(request, index, paused);
    return busy;
  }

  /** Removes the waiting calls of a request that nobody waits for. Running calls end as usual. */
  forget(request: PendingRequest): void {
    this.second.forget(request);
    this.long.forget(request);
  }

  /** Starts every call that may start. Must follow everything that changes which calls wait or run. */
  start(): void {
    while (this.long.mayStart) this.run(this.long);
    while (this.second.mayStart && (!this.isFirstWaiting() || performance.now() >= this.nextSecondMs))
      this.run(this.second);
  }

  private run(queue: SliceQueue): void {
    // `run` never rejects.
    queue.run().then(tookMs => {
      if (queue === this.second) this.nextSecondMs = performance.now() + FIRST_PER_SECOND * tookMs;
      this.start();
    });
  }

  private refuse(queue: SliceQueue, request: PendingRequest): Busy | undefined {
    const {queueCost, timeoutMs} = this.limits;
    const {client} = request;
    const own = (this.second.countOf(client) + this.long.countOf(client)) * ESTIMATE_COST;
    const all = (this.second.waiting + this.long.waiting) * ESTIMATE_COST;
    const full = findFull(own, all, queueCost);
    if (full !== undefined) {
      const message = "too many estimates that take long are waiting: try again later";
      const error = new RpcError(RpcCode.LIMIT_EXCEEDED, message, {
        limit: full.limit,
        got: full.got + ESTIMATE_COST,
      });
      this.refusals.note(queue.figures.name, "queue_full", queue.expectWaitMs(client));
      return {error, retryAfterSeconds: toSeconds(queue.figures.serviceMs)};
    }
    const waitMs = queue.expectWaitMs(client);
    const leftMs = request.clock.leftMs(performance.now());
    if (waitMs <= leftMs) return undefined;
    this.refusals.note(queue.figures.name, "wait", waitMs);
    return createWaitError("an estimate that takes long", waitMs, timeoutMs, leftMs);
  }
}
