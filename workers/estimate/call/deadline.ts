/**
 * The time limit of one call, checked inside the execution itself.
 *
 * If the system reports it, the limit counts this thread's processor time. So a call that succeeds on an idle machine does
 * not fail on a busy one, where proofs run first (threadPriority.ts). Wall-clock time may then be four times the limit. On
 * other systems the limit counts wall-clock time.
 *
 * Loops in the EVM call `pause`, and then other estimates of the thread may have their turns, which this one does not pay for. A precompile is one long synchronous call that cannot do so. For it, `run`
 * uses node:vm, which ends the isolate's execution at the next loop or big-integer step. node:vm counts wall-clock time. So a
 * precompile that was ended before this thread had its time begins again once, with as much wall-clock time as it should need.
 */
import {Script} from "node:vm";
import {MAX_STRETCH, type Slice} from "../../messages/estimateSlice.ts";
import {ThreadClock} from "../../threads/threadClock.ts";
import {Turns} from "../turns.ts";

export class TimeLimitError extends Error {
  /** @param hasMore - only a slice has ended. The call has more time when it begins again */
  constructor(
    readonly limitMs: number,
    readonly gotMs: number,
    readonly hasMore: boolean,
  ) {
    super(`the execution was not finished after ${limitMs} ms`);
    this.name = "TimeLimitError";
  }
}

const SLOT = Symbol.for("proofd.boundedFunction");
const invokeSlot = new Script(`globalThis[Symbol.for("${SLOT.description}")]()`);
const slots = globalThis as unknown as {[SLOT]: (() => unknown) | undefined};

/** A thread that had this share of the processor is as good as alone. (The kernel reports its time in steps of 4 ms.) */
const FULL_SHARE = 0.9;
/** The second run may find the machine busier than the first one. */
const SPARE = 1.5;

export class Deadline {
  private hasSlice = false;
  private limitMs = 0;
  private clockLimitMs = 0;
  private readonly thread = new ThreadClock();
  private startedMs = 0;
  private startedThreadMs: number | undefined;
  private startedWaitedMs = 0;
  /** No limit can be reached before this moment of the wall clock. */
  private dueMs = 0;

  /** @param wholeMs - the limit of a call without a slice. @param turns - of the thread's estimates. Default: it is alone */
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
    this.startedMs = performance.now();
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

  /** As `check`, where others may have their turns. @returns undefined, or a promise to wait for before the call goes on. @throws TimeLimitError */
  pause(): Promise<void> | undefined {
    this.check();
    return !this.hasSlice && this.turns.isOver() ? this.exclude(() => this.turns.pass()) : undefined;
  }

  /**
   * Runs a synchronous function that may take long; costs about 0.1 ms (a watching thread). It must be pure: it may run twice.
   *
   * @throws TimeLimitError when the time is over, in the middle of it
   */
  run<T>(work: () => T): T {
    this.postpone();
    const [beganMs, threadBeganMs] = [performance.now(), this.thread.readMs()];
    const first = runWithin(work, this.dueMs - beganMs);
    if (first !== undefined) return first.returned;
    this.postpone();
    const tookMs = performance.now() - beganMs;
    const hadMs = (this.thread.readMs() ?? Number.NaN) - (threadBeganMs ?? 0);
    const share = hadMs / tookMs;
    // A call that has a slice begins again without one.
    if (this.hasSlice || !(share < FULL_SHARE)) throw this.createError(performance.now() - this.startedMs);
    // Other threads had the processor. What the first run used is not counted, because it is lost.
    this.startedThreadMs = (this.startedThreadMs ?? 0) + hadMs;
    const restMs = this.startedMs + this.clockLimitMs - performance.now();
    const second = runWithin(work, Math.min(restMs, (SPARE * tookMs) / share));
    this.postpone();
    if (second === undefined) throw this.createError(performance.now() - this.startedMs);
    return second.returned;
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
    const lastMs = this.startedMs + this.clockLimitMs + waitedMs;
    if (gotMs > this.limitMs) throw this.createError(gotMs);
    if (nowMs > lastMs) throw this.createError(nowMs - this.startedMs);
    this.dueMs = Math.min(lastMs, nowMs + this.limitMs - gotMs);
  }
}

/** @returns undefined if it was ended after `ms` */
function runWithin<T>(work: () => T, ms: number): {readonly returned: T} | undefined {
  slots[SLOT] = work;
  try {
    return {returned: invokeSlot.runInThisContext({timeout: Math.max(1, Math.ceil(ms))}) as T};
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    return undefined;
  } finally {
    slots[SLOT] = undefined;
  }
}
