/**
 * One HTTP request while lanes answer calls of it: which segments have started, which answers wait for an earlier one,
 * how much of the answer its reader has still to take.
 *
 *   segments   sent | sent | under way | aside | not started | aside | under way | not started | ...
 *   lane         P     E        E          P         E           P         P            P
 *                               ^ nextToSend         ^ next of lane E                   ^ next of lane P
 *
 * The lanes go on independently, each within a window of bytes of its own: in one window, proofs set aside behind a slow
 * estimate would leave no room for the next estimate, which then could not be made beside it.
 */
import type {Head} from "../../workers/job/head.ts";
import type {ReplySink} from "../answer/replySink.ts";
import {type ByLane, callsOf, LANE_IDS, type LaneId, type RequestCalls} from "../answer/requestCalls.ts";
import {cutSegments, type Segment} from "../answer/segment.ts";
import {Piece} from "../answer/taskText.ts";
import {LaneProgress} from "./laneProgress.ts";

const COMMA_BYTES = 1;
const OPEN = Buffer.from("[");
const CLOSE = Buffer.from("]");

/** What an HTTP request came with. */
export interface RequestOrigin {
  readonly id: string;
  readonly isBatch: boolean;
  /** The head that the request's selectors were resolved against. */
  readonly head: Head;
  /** Who shares the estimate lane with others (http/clientAddress.ts); any text for a request without estimates. */
  readonly client: string;
}

export class PendingRequest {
  readonly id: string;
  readonly calls: RequestCalls;
  readonly isBatch: boolean;
  readonly head: Head;
  readonly client: string;
  readonly reply: ReplySink;
  readonly segments: readonly Segment[];
  readonly progress: ByLane<LaneProgress> = [new LaneProgress(), new LaneProgress()];
  readonly startedMs: number;
  /** When the unfinished calls are given up; moves while the request waits for its own reader. */
  #deadlineMs: number;
  /** Since when the request waits for its own reader; null while it does not. */
  #pausedSinceMs: number | null = null;
  /** It has waited for its own reader. */
  #isReaderBound = false;
  #isDropped = false;
  #nextToSend = 0;
  /** Answered segments that wait for an earlier one. */
  readonly #aside = new Map<number, Piece[]>();

  /** @param calls - at least one of them for a lane */
  constructor(origin: RequestOrigin, calls: RequestCalls, reply: ReplySink, timeoutMs: number) {
    this.id = origin.id;
    this.isBatch = origin.isBatch;
    this.head = origin.head;
    this.client = origin.client;
    this.calls = calls;
    this.reply = reply;
    this.segments = cutSegments(calls);
    for (let index = 0; index < this.segments.length; index++) {
      const segment = this.segments[index] as Segment;
      this.progress[segment.lane].add(index, segment);
    }
    this.startedMs = performance.now();
    this.#deadlineMs = this.startedMs + timeoutMs;
  }

  /** JSON text of the id of the segment's first call. */
  idOf({lane, firstCall}: Segment): string {
    return callsOf(this.calls, lane).ids[firstCall] as string;
  }

  /** Aborted: answers are not wanted any more. */
  get isDropped(): boolean {
    return this.#isDropped;
  }

  /** What it adds to the lane's queue. A slow reader's request asks for no more than is under way for it. */
  queueShare(lane: LaneId): number {
    if (this.isDropped) return 0;
    const {underWayCost, remainingCost} = this.progress[lane];
    return this.#isReaderBound ? underWayCost : remainingCost;
  }

  get isAnswered(): boolean {
    return this.#nextToSend === this.segments.length;
  }

  /** The lane's segment that starts next; undefined where none will. */
  nextSegment(lane: LaneId): Segment | undefined {
    const next = this.progress[lane].next;
    return next === undefined || this.isDropped ? undefined : this.segments[next];
  }

  /**
   * May the lane's next segment start? Where everything before it is sent it always may, however large, unless the
   * reader does not take what there is: then the reply's next drain asks again. (Bytes that the reply only collects must
   * not count here, since nothing would ever drain them.)
   *
   * @param bytesPerCost - upper bound of an answer's text per unit of cost
   */
  mayStart(lane: LaneId, windowBytes: number, bytesPerCost: number): boolean {
    const segment = this.nextSegment(lane);
    if (segment === undefined) return false;
    const {next, underWayCost, asideBytes} = this.progress[lane];
    if (next === this.#nextToSend && !this.reply.isBlocked) return true;
    const expected = (underWayCost + segment.cost) * bytesPerCost;
    return expected + asideBytes + this.reply.heldBytes <= windowBytes;
  }

  /** @returns the index of the lane's segment that starts. There is one */
  start(lane: LaneId): number {
    const progress = this.progress[lane];
    const index = progress.next as number;
    progress.start(this.segments[index] as Segment);
    return index;
  }

  /** A started segment's task has ended, with whatever result. */
  stop(index: number): void {
    const segment = this.segments[index] as Segment;
    this.progress[segment.lane].stop(index, segment);
  }

  /** A stopped segment was never begun, and starts again. */
  giveBack(index: number): void {
    this.progress[(this.segments[index] as Segment).lane].giveBack(index);
  }

  /** A started segment goes on outside of its lane. */
  move(index: number): void {
    const segment = this.segments[index] as Segment;
    this.progress[segment.lane].move(index, segment);
  }

  /** The client has gone. */
  drop(): void {
    this.#isDropped = true;
    for (const pieces of this.#aside.values()) for (const piece of pieces) piece.release();
    this.#aside.clear();
  }

  /** Starts nothing more. */
  giveUp(): void {
    for (const progress of this.progress) progress.giveUp();
  }

  /**
   * Stops the clock while only the request's reader holds it up: some segment has not started, and none is under way or
   * waits for a turn. To be asked after every lane was offered what it may start.
   *
   * @returns whether that has changed
   */
  updatePause(): boolean {
    const isPaused = this.#isHeldUp();
    if (isPaused === (this.#pausedSinceMs !== null)) return false;
    const nowMs = performance.now();
    if (this.#pausedSinceMs !== null) this.#deadlineMs += nowMs - this.#pausedSinceMs;
    this.#pausedSinceMs = isPaused ? nowMs : null;
    this.#isReaderBound = true;
    return true;
  }

  isOverdue(nowMs: number): boolean {
    return this.#pausedSinceMs === null && nowMs >= this.#deadlineMs;
  }

  /** Until its unfinished calls are given up. */
  leftMs(nowMs: number): number {
    return this.#deadlineMs - nowMs;
  }

  isSegmentAnswered(index: number): boolean {
    return index < this.#nextToSend || this.#aside.has(index);
  }

  /** Hands over a segment's part of the response and sends what is in order. Not after a drop. */
  answer(index: number, pieces: Piece[]): void {
    const segment = this.segments[index] as Segment;
    const {lane} = segment;
    this.progress[lane].answer(index, segment);
    if (index !== this.#nextToSend) {
      for (const piece of pieces) piece.wait();
      this.#aside.set(index, pieces);
      this.progress[lane].asideBytes += countBytes(pieces);
      return;
    }
    this.#send(pieces);
    for (
      let next = this.#aside.get(this.#nextToSend);
      next !== undefined;
      next = this.#aside.get(this.#nextToSend)
    ) {
      this.#aside.delete(this.#nextToSend);
      this.progress[(this.segments[this.#nextToSend] as Segment).lane].asideBytes -= countBytes(next);
      this.#send(next);
    }
  }

  /** Answers a request that is no batch with HTTP 503, its only call with `text`. Not after a drop. */
  turnAway(text: string, retryAfterSeconds: number): void {
    const [segment] = this.segments as [Segment];
    this.progress[segment.lane].answer(0, segment);
    this.#nextToSend++;
    this.reply.sendBusy(text, retryAfterSeconds);
  }

  #isHeldUp(): boolean {
    let hasMore = false;
    for (const lane of LANE_IDS) {
      const {isQueued, underWay} = this.progress[lane];
      if (isQueued || underWay > 0) return false;
      if (this.nextSegment(lane) !== undefined) hasMore = true;
    }
    return hasMore;
  }

  /** Every piece ends in a comma; the last one gives way to the end of the batch. */
  #send(pieces: Piece[]): void {
    const isFirst = this.#nextToSend === 0;
    this.#nextToSend++;
    if (this.isAnswered) {
      (pieces.at(-1) as Piece).shorten(COMMA_BYTES);
      if (this.isBatch) pieces.push(new Piece(CLOSE));
    }
    if (isFirst && this.isBatch) pieces.unshift(new Piece(OPEN));
    if (this.isAnswered) this.reply.finish(pieces);
    else this.reply.push(pieces);
  }
}

function countBytes(pieces: readonly Piece[]): number {
  let byteCount = 0;
  for (const piece of pieces) byteCount += piece.length;
  return byteCount;
}
