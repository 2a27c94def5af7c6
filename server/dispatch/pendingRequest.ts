/**
 * One HTTP request while lanes answer calls of it: how far it is in each lane, and how much of its answer waits for an earlier
 * part (orderedAnswer.ts) or for its reader.
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
import type {Piece} from "../answer/taskText.ts";
import {LaneProgress} from "./laneProgress.ts";
import {OrderedAnswer} from "./orderedAnswer.ts";
import {RequestClock} from "./requestClock.ts";

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
  readonly progress: ByLane<LaneProgress>;
  readonly clock: RequestClock;
  private readonly ordered: OrderedAnswer;
  private dropped = false;

  /** @param calls - at least one of them for a lane */
  constructor(origin: RequestOrigin, calls: RequestCalls, reply: ReplySink, timeoutMs: number) {
    this.id = origin.id;
    this.isBatch = origin.isBatch;
    this.head = origin.head;
    this.client = origin.client;
    this.calls = calls;
    this.reply = reply;
    this.segments = cutSegments(calls);
    this.progress = [new LaneProgress(this.segments), new LaneProgress(this.segments)];
    for (let index = 0; index < this.segments.length; index++) this.progressOf(index).add(index);
    this.ordered = new OrderedAnswer(reply, origin.isBatch, this.segments.length);
    this.clock = new RequestClock(timeoutMs);
  }

  /** JSON text of the id of the segment's first call. */
  idOf({lane, firstCall}: Segment): string {
    return callsOf(this.calls, lane).ids[firstCall] as string;
  }

  /** Aborted: answers are not wanted any more. */
  get isDropped(): boolean {
    return this.dropped;
  }

  /** What it adds to the lane's queue. A slow reader's request asks for no more than is under way for it. */
  queueShare(lane: LaneId): number {
    if (this.isDropped) return 0;
    const {underWayCost, remainingCost} = this.progress[lane];
    return this.clock.wasPaused ? underWayCost : remainingCost;
  }

  get isAnswered(): boolean {
    return this.ordered.isWhole;
  }

  /** The lane's segment that starts next; undefined where none will. */
  nextSegment(lane: LaneId): Segment | undefined {
    return this.isDropped ? undefined : this.progress[lane].nextSegment;
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
    if (next === this.ordered.nextToSend && !this.reply.isBlocked) return true;
    const expected = (underWayCost + segment.cost) * bytesPerCost;
    return expected + asideBytes + this.reply.unsentBytes <= windowBytes;
  }

  /** @returns the index of the lane's segment that starts. There is one */
  start(lane: LaneId): number {
    return this.progress[lane].start();
  }

  /** A started segment's task has ended, with whatever result. */
  stop(index: number): void {
    this.progressOf(index).stop(index);
  }

  /** A stopped segment was never begun, and starts again. */
  giveBack(index: number): void {
    this.progressOf(index).giveBack(index);
  }

  /** A started segment goes on outside of its lane. */
  move(index: number): void {
    this.progressOf(index).move(index);
  }

  /** The client has gone. */
  drop(): void {
    this.dropped = true;
    this.ordered.drop();
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
    return this.clock.pause(this.isHeldUp());
  }

  isSegmentAnswered(index: number): boolean {
    return this.ordered.has(index);
  }

  /** Hands over a segment's part of the response and sends what is in order. Not after a drop. */
  answer(index: number, pieces: Piece[]): void {
    const progress = this.progressOf(index);
    progress.answer(index);
    if (!this.ordered.put(index, pieces)) {
      progress.asideBytes += this.ordered.asideBytes(index);
      return;
    }
    for (let next = this.ordered.nextToSend; this.ordered.has(next); next = this.ordered.nextToSend) {
      this.progressOf(next).asideBytes -= this.ordered.asideBytes(next);
      this.ordered.sendAside();
    }
  }

  /** Answers a request that is no batch with HTTP 503, its only call with `text`. Not after a drop. */
  turnAway(text: string, retryAfterSeconds: number): void {
    this.progressOf(0).answer(0);
    this.ordered.turnAway(text, retryAfterSeconds);
  }

  private progressOf(index: number): LaneProgress {
    return this.progress[(this.segments[index] as Segment).lane];
  }

  private isHeldUp(): boolean {
    let hasMore = false;
    for (const lane of LANE_IDS) {
      const {isQueued, underWay} = this.progress[lane];
      if (isQueued || underWay > 0) return false;
      if (this.nextSegment(lane) !== undefined) hasMore = true;
    }
    return hasMore;
  }
}
