/** Logs the upstream's outages: one line when an outage begins and one when it ends, not one per call. */
import type {Logger} from "pino";

/** At most one line in this time. An upstream that fails every second call would begin many outages. */
const WARN_EVERY_MS = 10_000;

export class OutageLog {
  private isWarned = false;
  private nextWarnMs = 0;
  private isEnded = false;

  constructor(private readonly log: Logger) {}

  noteAnswer(): void {
    if (!this.isWarned || this.isEnded) return;
    this.isWarned = false;
    this.log.info("the gateway answers again");
  }

  noteFailure(reason: string, error: unknown): void {
    if (this.isEnded) return;
    this.log.debug({err: error}, "the gateway did not answer a call");
    const nowMs = performance.now();
    if (this.isWarned || nowMs < this.nextWarnMs) return;
    this.isWarned = true;
    this.nextWarnMs = nowMs + WARN_EVERY_MS;
    this.log.warn({reason}, "the gateway does not answer: estimates get error -32002");
  }

  /** Stops logging, because later failures come from closing the connections. */
  end(): void {
    this.isEnded = true;
  }
}
