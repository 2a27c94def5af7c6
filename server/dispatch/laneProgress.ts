/** How far one HTTP request is in one lane. Its segments start in order; they may end in any. */
import type {Segment} from "../answer/segment.ts";

export class LaneProgress {
  /** Whether the lane's queue holds the request. */
  isQueued = false;
  /** Since when it does, where the lane's clients share it. */
  queuedSinceMs = 0;
  /** How much of the lane's queued cost is the request's. */
  countedShare = 0;
  /** Cost of the segments that are not answered yet. */
  remainingCost = 0;
  underWay = 0;
  underWayCost = 0;
  /** Bytes of answered segments that wait for an earlier one, of whichever lane. */
  asideBytes = 0;
  private readonly segments: readonly Segment[];
  /** Those of the request's segments that are the lane's. */
  private readonly indexes: number[] = [];
  private started = 0;
  /** Given back by their tasks, to be started again; in order. */
  private readonly returned: number[] = [];
  /** Those that are under way outside of the lane. */
  private moved: Set<number> | null = null;

  /** @param segments - of the request, in all lanes */
  constructor(segments: readonly Segment[]) {
    this.segments = segments;
  }

  /** The segment is the lane's. In order. */
  add(index: number): void {
    this.indexes.push(index);
    this.remainingCost += this.costOf(index);
  }

  /** Which segment starts next; undefined where all have. */
  get next(): number | undefined {
    return this.returned.length > 0 ? this.returned[0] : this.indexes[this.started];
  }

  get nextSegment(): Segment | undefined {
    const {next} = this;
    return next === undefined ? undefined : this.segments[next];
  }

  /** @returns the index of the segment that starts. There is one */
  start(): number {
    const index = this.next as number;
    if (this.returned.length > 0) this.returned.shift();
    else this.started++;
    this.underWay++;
    this.underWayCost += this.costOf(index);
    return index;
  }

  /** A started segment's task has ended, with whatever result. */
  stop(index: number): void {
    this.underWay--;
    if (this.moved?.has(index) !== true) this.underWayCost -= this.costOf(index);
  }

  /** A started segment goes on outside of the lane, which it costs nothing any more. */
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

  /** A stopped segment was never begun: it starts again, before all that come after it. */
  giveBack(index: number): void {
    this.returned.push(index);
    this.returned.sort((a, b) => a - b);
  }

  /** No further segment starts. */
  giveUp(): void {
    this.started = this.indexes.length;
    this.returned.length = 0;
  }

  private costOf(index: number): number {
    return (this.segments[index] as Segment).cost;
  }
}
