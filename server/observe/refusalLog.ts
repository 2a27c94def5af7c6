/** Counts requests that are turned away because others wait, and logs at most one line in ten seconds. */
import type {Logger} from "pino";
import type {QueueName} from "./queueFigures.ts";

const WARN_EVERY_MS = 10_000;

/** The queue has no room, the wait in it would be longer than the request's time limit, or another client has less in the full queue. */
type RefusalReason = "queue_full" | "wait" | "gave_way";

interface RefusalCount {
  readonly queue: QueueName;
  readonly reason: RefusalReason;
  count: number;
}

export class RefusalLog {
  private readonly known: RefusalCount[] = [];
  private nextWarnMs = 0;
  private sinceWarned = 0;

  constructor(private readonly log: Logger) {}

  counts(): readonly RefusalCount[] {
    return this.known;
  }

  /** @param waitMs - expected wait in the queue */
  note(queue: QueueName, reason: RefusalReason, waitMs: number): void {
    const known = this.known.find(one => one.queue === queue && one.reason === reason);
    if (known === undefined) this.known.push({queue, reason, count: 1});
    else known.count++;
    this.sinceWarned++;
    const nowMs = performance.now();
    if (nowMs < this.nextWarnMs) return;
    this.nextWarnMs = nowMs + WARN_EVERY_MS;
    this.log.warn(
      {queue, reason, waitMs: Math.round(waitMs), refused: this.sinceWarned},
      "requests are turned away: too many are waiting",
    );
    this.sinceWarned = 0;
  }
}
