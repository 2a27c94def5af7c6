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
  private readonly count: number;
  /** Indexes of the lane's segments. undefined: all are the lane's. */
  private readonly indexes: readonly number[] | undefined;
  private started = 0;
  /** Segments whose tasks did not begin or finish them, in order. */
  private requeued: number[] | undefined;
  /** By segment: how many tasks did not finish it. */
  private tries: Map<number, number> | undefined;
  /** Segments that continue in the long queue (longQueue.ts). */
  private moved: Set<number> | undefined;

  constructor(
    private readonly segments: readonly Segment[],
    lane: LaneId,
  ) {
    let count = 0;
    for (const segment of segments) {
      if (segment.lane !== lane) continue;
      this.remainingCost += segment.cost;
      count++;
    }
    this.count = count;
    this.cost = this.remainingCost;
    if (count < segments.length)
      this.indexes = segments.flatMap((segment, index) => (segment.lane === lane ? [index] : []));
  }

  /** Index of the segment that starts next. undefined: all have started. */
  get next(): number | undefined {
    if (this.requeued !== undefined && this.requeued.length > 0) return this.requeued[0];
    if (this.started === this.count) return undefined;
    return this.indexes === undefined ? this.started : this.indexes[this.started];
  }

  get nextSegment(): Segment | undefined {
    const {next} = this;
    return next === undefined ? undefined : this.segments[next];
  }

  /** Starts the next segment; there must be one. @returns its index */
  start(): number {
    const index = this.next as number;
    if (this.requeued?.shift() === undefined) this.started++;
    this.underWay++;
    this.underWayCost += this.costOf(index);
    return index;
  }

  stop(index: number): void {
    this.underWay--;
    assertInvariant(this.underWay >= 0, "a request's segments under way are not negative");
    if (this.moved?.has(index) !== true) this.underWayCost -= this.costOf(index);
  }

  /** The started segment continues in the long queue. It no longer counts in the lane's cost. */
  move(index: number): void {
    this.moved ??= new Set();
    if (this.moved.has(index)) return;
    this.moved.add(index);
    this.underWayCost -= this.costOf(index);
    this.remainingCost -= this.costOf(index);
  }

  answer(index: number): void {
    if (this.moved?.has(index) !== true) this.remainingCost -= this.costOf(index);
  }

  /** Counts a task that did not finish the segment. @returns the number of such tasks */
  countTry(index: number): number {
    this.tries ??= new Map();
    const tries = (this.tries.get(index) ?? 0) + 1;
    this.tries.set(index, tries);
    return tries;
  }

  /** A stopped segment starts again, before the segments after it. */
  requeue(index: number): void {
    this.requeued ??= [];
    this.requeued.push(index);
    this.requeued.sort((a, b) => a - b);
  }

  giveUp(): void {
    this.started = this.count;
    this.requeued = undefined;
  }

  private costOf(index: number): number {
    return (this.segments[index] as Segment).cost;
  }
}
