/** The upstream's outages in the log: one line when one begins and one when it is over, not one per call. */
import type {Logger} from "pino";

/** An upstream that fails every other call begins an outage with each: no more lines than one in this time. */
const WARN_EVERY_MS = 10_000;

export class OutageLog {
  private readonly log: Logger;
  private isWarned = false;
  private nextWarnMs = 0;
  private isEnded = false;

  constructor(log: Logger) {
    this.log = log;
  }

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
    this.log.warn({reason}, "the gateway does not answer, estimates are -32002");
  }

  /** What fails from now on fails because we stop. */
  end(): void {
    this.isEnded = true;
  }
}
