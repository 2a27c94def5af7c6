/**
 * Counts the open connections, and closes new ones above a limit. Without it, the process would run out of descriptors. Then the
 * system refuses to hand over the next connection, and the event loop asks for it again without end and without a word.
 */
import type {Logger} from "pino";

const WARN_EVERY_MS = 10_000;

export class Connections {
  open = 0;
  /** Connections that were closed because too many were open. */
  refused = 0;
  private nextWarnMs = 0;

  constructor(
    private readonly limit: number,
    private readonly log: Logger,
  ) {}

  /** @param change - 1 for a new connection, -1 for one that has closed. @param close - closes the connection */
  count(change: number, close: () => void): void {
    this.open += change;
    if (change < 0 || this.open <= this.limit) return;
    this.refused++;
    const nowMs = performance.now();
    if (nowMs >= this.nextWarnMs) {
      this.nextWarnMs = nowMs + WARN_EVERY_MS;
      const {limit, refused} = this;
      this.log.warn({limit, refused}, "new connections are closed: too many are open (ulimit -n)");
    }
    close();
  }
}
