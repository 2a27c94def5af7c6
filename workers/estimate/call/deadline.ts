/**
 * The time limit of one call, checked inside the execution itself.
 *
 * If the system reports it, the limit counts this thread's processor time. So a call that succeeds on an idle machine
 * does not fail on a busy one, where proofs run first (threadPriority.ts). Wall-clock time may then be four times the
 * limit, in which the turns of the thread's other estimates count. On other systems the limit counts the call's own
 * wall-clock time.
 */
import type {PartTime} from "../../../evm/interpreter/precompiles/precompile.ts";
import {MAX_STRETCH, type Slice} from "../../messages/estimateSlice.ts";
import {CallFailure} from "../../messages/failure.ts";
import {ThreadClock} from "../../threads/threadClock.ts";
import {Turns} from "../turns.ts";

export class TimeLimitError extends CallFailure {
  /** @param hasMore - only a slice has ended. The call has more time when it begins again */
  constructor(
    readonly limitMs: number,
    readonly gotMs: number,
    readonly hasMore: boolean,
  ) {
    const detail = `the execution was not finished after ${limitMs} ms`;
    super({failure: "LIMIT_EXCEEDED", detail, limit: limitMs, got: gotMs});
  }
}

export class Deadline {
  private hasSlice = false;
  private limitMs = 0;
  private clockLimitMs = 0;
  private readonly thread = new ThreadClock();
  /** With the turns of others. */
  private begunMs = 0;
  /** Later by the turns of others, for which the call does not pay. */
  private startedMs = 0;
  private startedThreadMs: number | undefined;
  private startedWaitedMs = 0;
  /** No limit can be reached before this moment of the wall clock. */
  private dueMs = 0;

  /** @param wholeMs - of a call without a slice. @param turns - of the thread's estimates. Default: it is alone */
  constructor(
    private readonly wholeMs: number,
    private readonly turns = new Turns(),
  ) {}

  /** Begins a call. @param slice - the part of the whole time that it may use; default: all */
  start(slice?: Slice): void {
    this.hasSlice = slice !== undefined && slice.ms < this.wholeMs;
    const whole = {ms: this.wholeMs, clockMs: MAX_STRETCH * this.wholeMs};
    const {ms, clockMs} = slice !== undefined && this.hasSlice ? slice : whole;
    this.limitMs = ms;
    this.clockLimitMs = clockMs;
    this.begunMs = performance.now();
    this.startedMs = this.begunMs;
    this.startedThreadMs = this.thread.readRecentMs(this.startedMs);
    this.startedWaitedMs = this.thread.waitedMs;
    this.dueMs = this.startedMs + this.limitMs;
  }

  /** Work that the call does not pay for. */
  async exclude<T>(work: () => Promise<T>): Promise<T> {
    const [beganMs, threadBeganMs] = [performance.now(), this.thread.readMs()];
    try {
      return await work();
    } finally {
      const tookMs = performance.now() - beganMs;
      this.begunMs += tookMs;
      this.startedMs += tookMs;
      this.dueMs += tookMs;
      if (this.startedThreadMs !== undefined && threadBeganMs !== undefined)
        this.startedThreadMs += (this.thread.readMs() ?? threadBeganMs) - threadBeganMs;
    }
  }

  /** @throws TimeLimitError */
  check(): void {
    if (performance.now() > this.dueMs) this.postpone();
  }

  /**
   * As `check`, where others may have their turns. @param next - a slice has no time for a long part
   * @returns undefined, or a promise to wait for. @throws TimeLimitError
   */
  pause(next: PartTime = "short"): Promise<void> | undefined {
    this.check();
    if (this.hasSlice) {
      if (next === "long") throw this.createError(performance.now() - this.startedMs);
      return undefined;
    }
    return this.turns.isOver() ? this.pass() : undefined;
  }

  private async pass(): Promise<void> {
    const {begunMs} = this;
    await this.exclude(() => this.turns.pass());
    this.begunMs = begunMs;
    this.postpone();
  }

  private createError(gotMs: number): TimeLimitError {
    return new TimeLimitError(this.limitMs, Math.round(gotMs), this.hasSlice);
  }

  private tookMs(nowMs: number, threadMs: number | undefined): number {
    return threadMs === undefined || this.startedThreadMs === undefined
      ? nowMs - this.startedMs
      : threadMs - this.startedThreadMs;
  }

  /** Reads how much of the time this thread really had, and moves `dueMs` by what is left. @throws TimeLimitError */
  private postpone(): void {
    const nowMs = performance.now();
    const gotMs = this.tookMs(nowMs, this.thread.readMs());
    const waitedMs = this.hasSlice ? this.thread.waitedMs - this.startedWaitedMs : 0;
    const lastMs = this.begunMs + this.clockLimitMs + waitedMs;
    if (gotMs > this.limitMs) throw this.createError(gotMs);
    if (nowMs > lastMs) throw this.createError(nowMs - this.begunMs);
    this.dueMs = Math.min(lastMs, nowMs + this.limitMs - gotMs);
  }
}
