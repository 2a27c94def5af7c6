/** What a queue of estimates has to tell: how long its calls wait and take. Plain numbers, read by /metrics. */

/** Of a new measurement. */
const WEIGHT = 1 / 16;

export type QueueName = "first" | "second" | "long";

export class QueueFigures {
  readonly name: QueueName;
  /** Calls that left the queue for a thread. */
  started = 0;
  /** They waited so long, all together. */
  waitedMs = 0;
  private meanMs: number;

  /** @param serviceMs - what a call takes, until some were measured */
  constructor(name: QueueName, serviceMs: number) {
    this.name = name;
    this.meanMs = serviceMs;
  }

  /** What a call takes of a worker's time. */
  get serviceMs(): number {
    return this.meanMs;
  }

  countStart(waitedMs: number): void {
    this.started++;
    this.waitedMs += waitedMs;
  }

  /** @param serviceMs - of one call */
  measure(serviceMs: number): void {
    this.meanMs += (serviceMs - this.meanMs) * WEIGHT;
  }
}
