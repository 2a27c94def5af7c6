/**
 * The time limit of one call, checked inside the execution itself.
 *
 * If the system reports it, the limit counts this thread's processor time. So a call that succeeds on an idle machine does
 * not fail on a busy one, where proofs run first (threadPriority.ts). Wall-clock time may then be four times the limit. On
 * other systems the limit counts wall-clock time.
 *
 * Loops in the EVM call `check` (boundedEvm.ts). A precompile is one long synchronous call that cannot do so. For it, `run`
 * uses node:vm, which ends the isolate's execution at the next loop or big-integer step.
 */
import {Script} from "node:vm";
import {MAX_STRETCH, type Slice} from "../../job/estimateSlices.ts";
import {ThreadClock} from "../../thread/threadClock.ts";

/** The call was not finished in time. */
export class TimeLimitError extends Error {
  readonly limitMs: number;
  readonly gotMs: number;

  constructor(limitMs: number, gotMs: number) {
    super(`the execution was not finished after ${limitMs} ms`);
    this.name = "TimeLimitError";
    this.limitMs = limitMs;
    this.gotMs = gotMs;
  }
}

const SLOT = Symbol.for("proofd.boundedFunction");
const invokeSlot = new Script(`globalThis[Symbol.for("${SLOT.description}")]()`);
const slots = globalThis as unknown as {[SLOT]: (() => unknown) | undefined};

export class Deadline {
  /** The limit of a call without a slice. */
  private readonly wholeMs: number;
  private limitMs: number;
  private clockLimitMs: number;
  private readonly thread = new ThreadClock();
  private startedMs = 0;
  private startedThreadMs: number | undefined;
  /** No limit can be reached before this moment of the wall clock. */
  private dueMs = 0;

  constructor(limitMs: number) {
    this.wholeMs = limitMs;
    this.limitMs = limitMs;
    this.clockLimitMs = MAX_STRETCH * limitMs;
  }

  /** Begins a call. @param slice - the part of the whole time that it may use; default: all of it */
  start(slice?: Slice): void {
    const whole = {ms: this.wholeMs, clockMs: MAX_STRETCH * this.wholeMs};
    const {ms, clockMs} = slice ?? whole;
    this.limitMs = Math.min(ms, whole.ms);
    this.clockLimitMs = Math.min(clockMs, whole.clockMs);
    this.startedMs = performance.now();
    this.startedThreadMs = this.thread.readMs();
    this.dueMs = this.startedMs + this.limitMs;
  }

  /** @throws TimeLimitError */
  check(): void {
    if (performance.now() > this.dueMs) this.postpone();
  }

  /**
   * Runs a synchronous function that may take long; costs about 0.1 ms (a watching thread).
   *
   * @throws TimeLimitError when the time is over, in the middle of it
   */
  run<T>(work: () => T): T {
    this.postpone();
    slots[SLOT] = work;
    try {
      const leftMs = Math.max(1, Math.ceil(this.dueMs - performance.now()));
      return invokeSlot.runInThisContext({timeout: leftMs}) as T;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      throw new TimeLimitError(this.limitMs, Math.round(performance.now() - this.startedMs));
    } finally {
      slots[SLOT] = undefined;
    }
  }

  /** Reads how much of the time this thread really had, and moves `dueMs` by what is left. @throws TimeLimitError */
  private postpone(): void {
    const nowMs = performance.now();
    const threadMs = this.thread.readMs();
    const gotMs =
      threadMs === undefined || this.startedThreadMs === undefined
        ? nowMs - this.startedMs
        : threadMs - this.startedThreadMs;
    const lastMs = this.startedMs + this.clockLimitMs;
    if (gotMs > this.limitMs) throw new TimeLimitError(this.limitMs, Math.round(gotMs));
    if (nowMs > lastMs) throw new TimeLimitError(this.limitMs, Math.round(nowMs - this.startedMs));
    this.dueMs = Math.min(lastMs, nowMs + this.limitMs - gotMs);
  }
}
