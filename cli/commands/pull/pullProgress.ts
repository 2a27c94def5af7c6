/**
 * The progress of a pull on standard error: a bar on a terminal, otherwise a line every few seconds.
 *
 *   accounts [#########-----------] 45 %, 12s left, 123 000 of 273 000 leaves, 66 000 rows/s
 */
import type {PhaseProgress, PullProgress as ShownProgress} from "../../../client/folder/pullPlace.ts";
import {formatCount, formatSeconds} from "../progress.ts";

const LINE_EVERY_MS = 3_000;
const BAR_EVERY_MS = 100;
const BAR_CHARS = 20;
const ERASE_LINE = "\r\x1b[K";

export class PullProgress implements ShownProgress {
  private readonly isBar: boolean;
  private nextMs: number;
  private phase = "";
  /** When the phase started, and how much of it was done then. */
  private begunMs = 0;
  private begunDone = 0;
  private readonly startedMs: number;
  private rows = 0;

  constructor(
    private readonly stream: Pick<NodeJS.WriteStream, "isTTY" | "write"> & {readonly columns?: number},
    private readonly now: () => number = () => performance.now(),
  ) {
    this.isBar = stream.isTTY === true;
    this.startedMs = now();
    this.nextMs = this.startedMs + (this.isBar ? 0 : LINE_EVERY_MS);
  }

  show(phase: string, progress: PhaseProgress | undefined, rows: number): void {
    const nowMs = this.now();
    if (phase !== this.phase)
      [this.phase, this.begunMs, this.begunDone] = [phase, nowMs, progress?.done ?? 0];
    this.rows += rows;
    if (nowMs < this.nextMs) return;
    this.nextMs = nowMs + (this.isBar ? BAR_EVERY_MS : LINE_EVERY_MS);
    const line = this.describe(progress, nowMs);
    // A line that wraps could not be erased.
    this.stream.write(this.isBar ? ERASE_LINE + line.slice(0, this.stream.columns) : `pull: ${line}\n`);
  }

  close(): void {
    if (this.isBar) this.stream.write(ERASE_LINE);
  }

  private describe(progress: PhaseProgress | undefined, nowMs: number): string {
    const rate = formatCount((1000 * this.rows) / Math.max(1, nowMs - this.startedMs));
    if (progress === undefined) return `${this.phase} ${formatCount(this.rows)} rows, ${rate} rows/s`;
    const {done, total, unit} = progress;
    const fraction = done / total;
    const chars = Math.floor(fraction * BAR_CHARS);
    const bar = this.isBar ? ` [${"#".repeat(chars)}${"-".repeat(BAR_CHARS - chars)}]` : "";
    const gained = done - this.begunDone;
    const time =
      gained > 0
        ? `, ${formatSeconds(((total - done) / gained) * ((nowMs - this.begunMs) / 1000))} left`
        : "";
    const counted = `${formatCount(done)} of ${formatCount(total)} ${unit}`;
    return `${this.phase}${bar} ${Math.floor(100 * fraction)} %${time}, ${counted}, ${rate} rows/s`;
  }
}
