/** Figures of one queue: how long its calls wait and how long they run. /metrics reads these plain numbers. */

/** Weight of a new measurement in the mean. */
const WEIGHT = 1 / 16;
/** What was drained counts for about so long. Much longer than a delay of the main thread, and shorter than a request may take. */
const WINDOW_MS = 10_000;
/** Cost that counts as drained before the first task: first tasks are slow, while their threads load the EVM. */
const FIRST_COST = 1000;

/** The queue of proofs, those of estimates, and that of forwarded calls. */
export type QueueName = "proof" | "first" | "long" | "gateway";

export class QueueFigures {
  started = 0;
  /** Total time that these calls waited. */
  waitedMs = 0;

  /** Time of all workers together in which tasks were under way, and the cost of those that ended. */
  private busyMs = 0;
  private drainedCost = FIRST_COST;

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

  /** @param ms - that so many calls together took of a worker */
  measure(ms: number, calls: number): void {
    this.serviceMs += (ms / calls - this.serviceMs) * WEIGHT;
  }

  /**
   * Counts what a task has drained. Time is that of the queue, not of each task: a delay of the main thread holds up
   * many tasks at once, but those that wait only once.
   *
   * @param ms - since the last task ended, or since one began when none was running
   * @param share - of the workers that were busy then
   */
  drain(ms: number, share: number, cost: number): void {
    const kept = Math.exp(-ms / WINDOW_MS);
    this.busyMs = this.busyMs * kept + ms * share;
    this.drainedCost = this.drainedCost * kept + cost;
  }

  /** Time in which all workers together drain a unit of cost. */
  get costMs(): number {
    return this.busyMs / this.drainedCost;
  }
}

/** The queues of estimates: for first slices, and for long calls, which have their whole time. */
export interface EstimateQueues {
  /** The calls in each queue. They wait. In the first queue, running calls count too. */
  readEstimateQueues(): readonly {readonly figures: QueueFigures; readonly calls: number}[];
  /** Number of calls that came back from their tasks because they had not begun. */
  readonly givenBack: number;
}
