/** The progress of one request in one lane. Its segments start in order and may end in any order. */
import {assertInvariant} from "../../storage/invariant.ts";
import type {LaneId} from "../request/requestCalls.ts";
import type {Segment} from "./segment.ts";

export class LaneProgress {
  isQueued = false;
  queuedSinceMs = 0;
  /** The request's part of the lane's queued cost. */
  countedCost = 0;
  readonly cost: number;
  /** Cost of the segments that are not answered yet. */
  remainingCost = 0;
  underWay = 0;
  underWayCost = 0;
  /** Bytes of answered segments that wait for an earlier segment of any lane. */
  asideBytes = 0;
  /** The lane's segments, in order. */
  private readonly segments: readonly Segment[];
  private started = 0;
  /** Segments whose tasks did not begin or finish them, in order. */
  private requeued: Segment[] | undefined;

  constructor(segments: readonly Segment[], lane: LaneId) {
    // Most requests have segments of one lane only: no list of its own for them.
    this.segments = segments.every(segment => segment.lane === lane)
      ? segments
      : segments.filter(segment => segment.lane === lane);
    for (const {cost} of this.segments) this.remainingCost += cost;
    this.cost = this.remainingCost;
  }

  /** The segment that starts next. undefined: all have started. */
  get next(): Segment | undefined {
    return this.requeued?.[0] ?? this.segments[this.started];
  }

  /** Starts the next segment; there must be one. */
  start(): Segment {
    const segment = this.next as Segment;
    if (this.requeued?.shift() === undefined) this.started++;
    this.underWay++;
    this.underWayCost += segment.cost;
    return segment;
  }

  stop({isMoved, cost}: Segment): void {
    this.underWay--;
    assertInvariant(this.underWay >= 0, "a request's segments under way are not negative");
    if (!isMoved) this.underWayCost -= cost;
  }

  /** The started segment continues in the long queue. */
  move(segment: Segment): void {
    if (segment.isMoved) return;
    segment.isMoved = true;
    this.underWayCost -= segment.cost;
    this.remainingCost -= segment.cost;
  }

  answer({isMoved, cost}: Segment): void {
    if (!isMoved) this.remainingCost -= cost;
  }

  /** A stopped segment starts again, before the segments after it. */
  requeue(segment: Segment): void {
    this.requeued ??= [];
    this.requeued.push(segment);
    this.requeued.sort((a, b) => a.index - b.index);
  }

  giveUp(): void {
    this.started = this.segments.length;
    this.requeued = undefined;
  }
}
