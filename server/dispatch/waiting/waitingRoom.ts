/**
 * Requests with calls that wait for a block to be finalized. They hold no place in a lane and no thread.
 *
 *   add -> waiting calls, by block number --- the chain changes: only the calls of these blocks --+
 *                \------- by deadline ------- one timer for all: only the calls that are due -----+
 *                                                                                                 |
 *   onSettled <- settled requests, clients take turns <- the last of a request's waits is over
 *                as long as the lanes have room to spare
 *
 * There is one listener on the chain. The timer runs only while a request is here.
 */

import type {ChainView} from "../../../workers/chain/chainView.ts";
import type {Head} from "../../../workers/job/head.ts";
import type {Limits} from "../../limits.ts";
import type {WaitFigures, WaitOutcome} from "../../observe/waitFigures.ts";
import {ClientCounts} from "../../request/clientCounts.ts";
import {SharedBytes} from "../../request/sharedBytes.ts";
import {encodeQuantity} from "../../rpc/quantity.ts";
import {createStillNotFinalizedError, RpcCode, RpcError} from "../../rpc/rpcError.ts";
import {type Busy, createWaitError, findFull} from "../busy.ts";
import {ClientQueue} from "../clientQueue.ts";
import {Deadlines, TICK_MS} from "./deadlines.ts";
import type {WaitingCall, WaitingRequest} from "./waitingRequest.ts";

/** How long settled requests are begun in one turn of the event loop. Most take 30 us, the largest batches some milliseconds. */
const TURN_MS = 5;
/** Nobody knows when waits end. */
const RETRY_SECONDS = 1;

export class WaitingRoom {
  onSettled: (request: WaitingRequest) => void = () => {};
  onRefused: (request: WaitingRequest, busy: Busy) => void = () => {};
  private readonly removeListener: () => void;
  private readonly requests = new Set<WaitingRequest>();
  private readonly byBlock = new Map<number, Set<WaitingCall>>();
  private readonly deadlines = new Deadlines<WaitingCall>();
  private readonly byClient = new ClientCounts();
  private readonly settled = new ClientQueue<WaitingRequest>();
  private readonly heldBytes: SharedBytes;
  private timer: NodeJS.Timeout | undefined;
  private isReleasePlanned = false;

  /** @param hasRoomToSpare - whether the lanes can take a request and still have room for others */
  constructor(
    private readonly chain: ChainView,
    private readonly limits: Limits,
    private readonly figures: WaitFigures,
    private readonly hasRoomToSpare: (client: string) => boolean,
  ) {
    this.heldBytes = new SharedBytes(limits);
    this.removeListener = chain.onChange((head, before) => this.settleChanged(head, before));
  }

  /** @returns why a request may not wait now, or undefined */
  refuse(callCount: number, heldBytes: number, client: string): Busy | undefined {
    const {waitingCalls} = this.limits;
    const calls = this.figures.waiting + callCount;
    const full = findFull(this.byClient.of(client) + callCount - 1, calls - 1, waitingCalls);
    if (full !== undefined)
      return this.createRefusal("too many calls wait for finality", full.limit, full.got + 1, callCount);
    const excess = this.heldBytes.refuse(client, heldBytes);
    if (excess === undefined) return undefined;
    const what = "the requests that wait for finality take too much memory";
    return this.createRefusal(what, excess.limit, excess.got, callCount);
  }

  /** Lets a request wait that `refuse` does not refuse. */
  add(request: WaitingRequest): void {
    const {waits, client, reply, envelope} = request;
    const nowMs = performance.now();
    for (const call of waits) {
      const {number, timeoutMs} = call.block;
      const calls = this.byBlock.get(number);
      if (calls === undefined) this.byBlock.set(number, new Set([call]));
      else calls.add(call);
      call.tick = this.deadlines.add(call, nowMs, timeoutMs);
    }
    this.requests.add(request);
    this.heldBytes.add(client, envelope.heldBytes);
    this.recount(client, waits.length);
    reply.onAborted = () => this.forget(request);
    this.timer ??= setInterval(() => this.tick(), TICK_MS);
  }

  /** Turns every request away. No request may be added after it. */
  close(): void {
    this.removeListener();
    const error = new RpcError(RpcCode.LIMIT_EXCEEDED, "the service is stopping: try again later", {
      limit: 0,
      got: 1,
    });
    for (const request of this.requests) {
      this.leave(request, "stopped");
      this.onRefused(request, {error, retryAfterSeconds: RETRY_SECONDS});
    }
    this.stopTimer();
  }

  private settleChanged(head: Head, before: Head): void {
    for (const call of this.listCalls(head.latest, before.latest))
      if (call.block.isByHash) this.settle(call, "replaced", undefined);
    for (const call of this.listCalls(before.finalized, head.finalized))
      this.settle(call, "finalized", undefined);
  }

  /** Lists the calls that wait for a block above `low`, up to `high`, which may be far apart. undefined: below all blocks. */
  private *listCalls(low = -1, high = -1): Generator<WaitingCall> {
    if (high <= low) return;
    for (const [block, calls] of this.byBlock) if (block > low && block <= high) yield* calls;
  }

  private tick(): void {
    const nowMs = performance.now();
    const head = this.chain.head();
    for (const call of this.deadlines.take(nowMs)) {
      const {number, timeoutMs} = call.block;
      const error = createStillNotFinalizedError(encodeQuantity(number), timeoutMs, head);
      this.settle(call, "timed_out", error);
    }
    this.refuseLate(nowMs);
    if (this.settled.length > 0) this.planRelease();
    this.stopTimer();
  }

  /** Turns requests away that could have begun long ago, if the lanes had had room. */
  private refuseLate(nowMs: number): void {
    const {timeoutMs} = this.limits;
    const isLate = ({isOver, settledMs}: WaitingRequest) => isOver || nowMs - settledMs >= timeoutMs;
    for (
      let request = this.settled.shiftIf(isLate);
      request !== undefined;
      request = this.settled.shiftIf(isLate)
    ) {
      if (request.isOver) continue;
      this.leave(request, "finalized");
      this.onRefused(
        request,
        createWaitError("the request", nowMs - request.settledMs, timeoutMs, timeoutMs),
      );
    }
  }

  private settle(call: WaitingCall, outcome: WaitOutcome, error: RpcError | undefined): void {
    const {request} = call;
    call.error = error;
    this.endWait(call, outcome);
    if (request.open > 0) return;
    request.settledMs = performance.now();
    this.settled.push(request);
    this.planRelease();
  }

  private planRelease(): void {
    if (this.isReleasePlanned) return;
    this.isReleasePlanned = true;
    setImmediate(() => {
      this.isReleasePlanned = false;
      this.release();
    });
  }

  /** Begins settled requests. If the lanes have no room, the next tick tries again. */
  private release(): void {
    const startMs = performance.now();
    const mayGo = ({isOver, client}: WaitingRequest) => isOver || this.hasRoomToSpare(client);
    for (
      let request = this.settled.shiftIf(mayGo);
      request !== undefined;
      request = this.settled.shiftIf(mayGo)
    ) {
      if (request.isOver) continue;
      this.leave(request, "finalized");
      this.onSettled(request);
      if (performance.now() - startMs <= TURN_MS) continue;
      if (this.settled.length > 0) this.planRelease();
      return;
    }
  }

  private forget(request: WaitingRequest): void {
    this.leave(request, "gone");
    request.drop(); // it may be settled, and stand behind others until the lanes have room
    this.stopTimer();
  }

  /** @param outcome - of the waits that are not over */
  private leave(request: WaitingRequest, outcome: WaitOutcome): void {
    for (const call of request.waits) if (!call.isOver) this.endWait(call, outcome);
    request.isOver = true;
    request.record.waitedMs = performance.now() - request.startedMs;
    request.reply.onAborted = undefined;
    this.requests.delete(request);
    this.heldBytes.remove(request.client, request.envelope.heldBytes);
  }

  private endWait(call: WaitingCall, outcome: WaitOutcome): void {
    const {request, block, tick} = call;
    call.isOver = true;
    request.open--;
    this.deadlines.remove(call, tick);
    const calls = this.byBlock.get(block.number);
    calls?.delete(call);
    if (calls?.size === 0) this.byBlock.delete(block.number);
    this.recount(request.client, -1);
    this.figures.end(outcome, performance.now() - request.startedMs);
  }

  private recount(client: string, change: number): void {
    this.figures.waiting += change;
    this.byClient.add(client, change);
  }

  private stopTimer(): void {
    if (this.requests.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private createRefusal(what: string, limit: number, got: number, callCount: number): Busy {
    this.figures.count("refused", callCount);
    const error = new RpcError(RpcCode.LIMIT_EXCEEDED, `${what}: try again later`, {limit, got});
    return {error, retryAfterSeconds: RETRY_SECONDS};
  }
}
