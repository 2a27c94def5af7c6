/**
 * A pull's progress on standard error: a bar on a terminal, otherwise a line every few seconds.
 *
 *   accounts [#########-----------] 45 %, 123 000 rows, 66 000 rows/s, 12s left
 */
import {formatCount, formatSeconds} from "../progress.ts";

const LINE_EVERY_MS = 3_000;
const BAR_EVERY_MS = 100;
const BAR_CHARS = 20;
const ERASE_LINE = "\r\x1b[K";

export class PullProgress {
  private readonly isBar: boolean;
  private nextMs: number;
  private phase = "";
  /** When the phase began, and how much of it was done then. */
  private begunMs = 0;
  private begunFraction = 0;
  private readonly startedMs: number;
  private rows = 0;

  /** @param now - milliseconds of a clock that never goes back */
  constructor(
    private readonly stream: Pick<NodeJS.WriteStream, "isTTY" | "write">,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.isBar = stream.isTTY === true;
    this.startedMs = now();
    this.nextMs = this.startedMs + (this.isBar ? 0 : LINE_EVERY_MS);
  }

  /**
   * @param phase - what is pulled now
   * @param fraction - how much of it is done, 0 to 1; undefined: nobody knows
   * @param rows - since the last call
   */
  show(phase: string, fraction: number | undefined, rows: number): void {
    const nowMs = this.now();
    if (phase !== this.phase) [this.phase, this.begunMs, this.begunFraction] = [phase, nowMs, fraction ?? 0];
    this.rows += rows;
    if (nowMs < this.nextMs) return;
    this.nextMs = nowMs + (this.isBar ? BAR_EVERY_MS : LINE_EVERY_MS);
    const line = this.describe(fraction, nowMs);
    this.stream.write(this.isBar ? `${ERASE_LINE}${line}` : `pull: ${line}\n`);
  }

  /** Removes the bar. */
  close(): void {
    if (this.isBar) this.stream.write(ERASE_LINE);
  }

  private describe(fraction: number | undefined, nowMs: number): string {
    const rate = Math.round((1000 * this.rows) / Math.max(1, nowMs - this.startedMs));
    const rows = `${formatCount(this.rows)} rows, ${formatCount(rate)} rows/s`;
    if (fraction === undefined) return `${this.phase} ${rows}`;
    const done = Math.floor(fraction * BAR_CHARS);
    const bar = this.isBar ? ` [${"#".repeat(done)}${"-".repeat(BAR_CHARS - done)}]` : "";
    const gained = fraction - this.begunFraction;
    const left = gained > 0 ? ((1 - fraction) / gained) * ((nowMs - this.begunMs) / 1000) : undefined;
    const time = left === undefined ? "" : `, ${formatSeconds(left)} left`;
    return `${this.phase}${bar} ${Math.floor(100 * fraction)} %, ${rows}${time}`;
  }
}
