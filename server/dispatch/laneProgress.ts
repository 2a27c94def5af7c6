/** How far one HTTP request is in one lane. Its segments start in order; they may end in any. */
import type {Segment} from "./segment.ts";

export class LaneProgress {
  /** Whether the lane's queue holds the request. */
  isQueued = false;
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

  add(index: number, segment: Segment): void {
    this.#indexes.push(index);
    this.remainingCost += segment.cost;
  }

  /** Which segment starts next; undefined where all have. */
  get next(): number | undefined {
    return this.#indexes[this.#started];
  }

  start(segment: Segment): void {
    this.#started++;
    this.underWay++;
    this.underWayCost += segment.cost;
  }

  /** A started segment's task has ended, with whatever result. */
  stop(segment: Segment): void {
    this.underWay--;
    this.underWayCost -= segment.cost;
  }

  /** No further segment starts. */
  giveUp(): void {
    this.#started = this.#indexes.length;
  }
}
