/** Figures of one queue: how long its calls wait and how long they run. /metrics reads these plain numbers. */

/** Weight of a new measurement in the mean. */
const WEIGHT = 1 / 16;

/** The queue of proofs, and those of estimates. */
export type QueueName = "proof" | "first" | "long";

export class QueueFigures {
  started = 0;
  /** Total time that these calls waited. */
  waitedMs = 0;

  /** Recent times and costs. Their sums count, not the mean of a unit: small tasks take most of their time for their way. */
  private recentMs = 0;
  private recentCost = 0;

  /** @param serviceMs - the assumed time of a call, before any is measured */
  constructor(
    readonly name: QueueName,
    /** Mean time that a call takes of a worker. */
    public serviceMs: number,
  ) {}

  /** @param waitedMs - at least 0: /metrics shows the sum as a counter, which may not fall */
  countStart(waitedMs: number): void {
    this.started++;
    this.waitedMs += waitedMs;
  }

  /** @param ms - that so many calls of this cost together took of a worker */
  measure(ms: number, calls: number, cost: number): void {
    this.serviceMs += (ms / calls - this.serviceMs) * WEIGHT;
    this.recentMs += (ms - this.recentMs) * WEIGHT;
    this.recentCost += (cost - this.recentCost) * WEIGHT;
  }

  /** Time that a unit of cost takes of a worker. */
  get costMs(): number {
    return this.recentCost === 0 ? 0 : this.recentMs / this.recentCost;
  }
}

/** The queues of estimates: for first slices, and for long calls, which have their whole time. */
export interface EstimateQueues {
  /** The calls in each queue. They wait. In the first queue, running calls count too. */
  readEstimateQueues(): readonly {readonly figures: QueueFigures; readonly calls: number}[];
  /** Number of calls that came back from their tasks because they had not begun. */
  readonly givenBack: number;
}
