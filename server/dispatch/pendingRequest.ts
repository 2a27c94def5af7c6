/**
 * One HTTP request while lanes answer its calls: its progress in each lane, and how much of the answer waits.
 *
 *   segments   sent | sent | under way | aside | not started | aside | under way | not started | ...
 *   lane         P     E        E          P         E           P         P            P
 *                               ^ nextToSend         ^ next of lane E                   ^ next of lane P
 *
 * Each lane has its own window of bytes. With one for all, proofs that wait behind a slow estimate would keep the next
 * estimate out.
 */
import type {Head} from "../../workers/messages/head.ts";
import type {ReplySink} from "../request/replySink.ts";
import {type ByLane, LANE_IDS, LaneId, type RequestCalls} from "../request/requestCalls.ts";
import type {RequestRecord} from "../request/requestRecord.ts";
import type {Piece} from "../request/taskText.ts";
import {LaneProgress} from "./laneProgress.ts";
import {OrderedAnswer} from "./orderedAnswer.ts";
import {cutSegments, type Segment} from "./segment.ts";

const NO_PROGRESS = new LaneProgress([], LaneId.PROOF);

export class PendingRequest {
  readonly segments: readonly Segment[];
  readonly progress: ByLane<LaneProgress>;
  readonly clock: RequestClock;
  /** Place in UnfinishedRequests. undefined: it is not there. */
  unfinishedAt: number | undefined;
  readonly ordered: OrderedAnswer;
  isDropped = false;

  /** @param calls - must have at least one call for a lane */
  constructor(
    readonly record: RequestRecord,
    readonly isBatch: boolean,
    /** The head that the request's selectors were resolved against. */
    readonly head: Head,
    /** As http/clientAddress.ts names it. */
    readonly client: string,
    readonly calls: RequestCalls,
    readonly reply: ReplySink,
    timeoutMs: number,
  ) {
    this.segments = cutSegments(calls);
    this.progress = [
      this.createProgress(LaneId.PROOF),
      this.createProgress(LaneId.ESTIMATE),
      this.createProgress(LaneId.GATEWAY),
    ];
    this.ordered = new OrderedAnswer(reply, isBatch, this.segments.length);
    this.clock = new RequestClock(record.startedMs, timeoutMs);
  }

  /** What it adds to the lane's queue. If its reader is slow, only running segments count. */
  queuedCost(lane: LaneId): number {
    if (this.isDropped) return 0;
    const {underWayCost, remainingCost} = this.progress[lane];
    return this.clock.wasPaused ? underWayCost : remainingCost;
  }

  get isBegun(): boolean {
    return this.ordered.isBegun || this.progress.some(({underWay}) => underWay > 0);
  }

  /** The lane's segment that starts next. undefined if no more will start. */
  nextSegment(lane: LaneId): Segment | undefined {
    return this.isDropped ? undefined : this.progress[lane].next;
  }

  /**
   * Whether the lane's next segment may start: its bytes, at most `bytesPerCost` each, fit into the window, or all
   * before it is sent and the reader is not blocked. A reply that still collects its first bytes is not blocked.
   */
  mayStart(lane: LaneId, windowBytes: number, bytesPerCost: number): boolean {
    const segment = this.nextSegment(lane);
    if (segment === undefined) return false;
    const {underWayCost, asideBytes} = this.progress[lane];
    if (segment.index === this.ordered.nextToSend && !this.reply.isBlocked) return true;
    const expected = (underWayCost + segment.cost) * bytesPerCost;
    return expected + asideBytes + this.reply.unsentBytes <= windowBytes;
  }

  drop(): void {
    this.isDropped = true;
    this.ordered.drop();
  }

  giveUp(): void {
    for (const progress of this.progress) progress.giveUp();
  }

  /** Stops the clock while only the reader is waited for. Call it after each offer. @returns whether that changed */
  updatePause(): boolean {
    return this.clock.pause(this.waitsForReader());
  }

  /** Adds a segment's part of the response. May not be called after a drop. */
  answer(segment: Segment, pieces: Piece[]): void {
    const progress = this.progress[segment.lane];
    progress.answer(segment);
    this.ordered.put(segment.index, pieces, progress);
  }

  /** Nothing more of the segment is awaited: it is answered, or the request was aborted. */
  isOver({index}: Segment): boolean {
    return this.isDropped || this.ordered.has(index);
  }

  /** Most requests are for one lane only. They share the progress in the others. */
  private createProgress(lane: LaneId): LaneProgress {
    const {calls, segments} = this;
    return calls.byLane[lane] === undefined ? NO_PROGRESS : new LaneProgress(segments, lane);
  }

  private waitsForReader(): boolean {
    let hasMore = false;
    for (const lane of LANE_IDS) {
      const {isQueued, underWay} = this.progress[lane];
      if (isQueued || underWay > 0) return false;
      if (this.nextSegment(lane) !== undefined) hasMore = true;
    }
    return hasMore;
  }
}

/** How long a request may still take. It stands still while the request waits only for its own reader. */
class RequestClock {
  private deadlineMs: number;
  /** undefined: it runs. */
  private pausedSinceMs: number | undefined;
  /** Whether the request has ever waited for its own reader. */
  wasPaused = false;

  /** @param startedMs - when the body had come */
  constructor(
    readonly startedMs: number,
    timeoutMs: number,
  ) {
    this.deadlineMs = startedMs + timeoutMs;
  }

  /** @returns whether that is a change */
  pause(isPaused: boolean): boolean {
    if (isPaused === (this.pausedSinceMs !== undefined)) return false;
    const nowMs = performance.now();
    if (this.pausedSinceMs !== undefined) this.deadlineMs += nowMs - this.pausedSinceMs;
    this.pausedSinceMs = isPaused ? nowMs : undefined;
    this.wasPaused = true;
    return true;
  }

  isOverdue(nowMs: number): boolean {
    return this.pausedSinceMs === undefined && nowMs >= this.deadlineMs;
  }

  leftMs(nowMs: number): number {
    return this.deadlineMs - nowMs;
  }
}
