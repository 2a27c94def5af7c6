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
  /** Those of the request's segments that are the lane's. */
  readonly #indexes: number[] = [];
  #started = 0;
  /** Given back by their tasks, to be started again; in order. */
  readonly #returned: number[] = [];
  /** Those that are under way outside of the lane. */
  #moved: Set<number> | null = null;

  add(index: number, segment: Segment): void {
    this.#indexes.push(index);
    this.remainingCost += segment.cost;
  }

  /** Which segment starts next; undefined where all have. */
  get next(): number | undefined {
    return this.#returned.length > 0 ? this.#returned[0] : this.#indexes[this.#started];
  }

  start(segment: Segment): void {
    if (this.#returned.length > 0) this.#returned.shift();
    else this.#started++;
    this.underWay++;
    this.underWayCost += segment.cost;
  }

  /** A started segment's task has ended, with whatever result. */
  stop(index: number, segment: Segment): void {
    this.underWay--;
    if (this.#moved?.has(index) !== true) this.underWayCost -= segment.cost;
  }

  /** A started segment goes on outside of the lane, which it costs nothing any more. */
  move(index: number, segment: Segment): void {
    this.#moved ??= new Set();
    if (this.#moved.has(index)) return;
    this.#moved.add(index);
    this.underWayCost -= segment.cost;
    this.remainingCost -= segment.cost;
  }

  answer(index: number, segment: Segment): void {
    if (this.#moved?.has(index) !== true) this.remainingCost -= segment.cost;
  }

  /** A stopped segment was never begun: it starts again, before all that come after it. */
  giveBack(index: number): void {
    this.#returned.push(index);
    this.#returned.sort((a, b) => a - b);
  }

  /** No further segment starts. */
  giveUp(): void {
    this.#started = this.#indexes.length;
    this.#returned.length = 0;
  }
}
