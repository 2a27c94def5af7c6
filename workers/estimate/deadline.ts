/**
 * The time that one call may execute for, kept inside the execution itself.
 *
 * What loops in the EVM asks `check` (boundedEvm.ts). A precompile is one long synchronous call that cannot ask:
 * `run` has node:vm stop it, which ends the isolate's execution at the next loop or big-integer step.
 */
import {Script} from "node:vm";

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
  private readonly limitMs: number;
  private startedMs = 0;

  constructor(limitMs: number) {
    this.limitMs = limitMs;
  }

  /** A call begins. */
  start(): void {
    this.startedMs = performance.now();
  }

  /** @throws TimeLimitError */
  check(): void {
    const gotMs = performance.now() - this.startedMs;
    if (gotMs > this.limitMs) throw new TimeLimitError(this.limitMs, Math.round(gotMs));
  }

  /**
   * Runs a synchronous function that may take long; costs about 0.1 ms (a watching thread).
   *
   * @throws TimeLimitError when the time is over, in the middle of it
   */
  run<T>(work: () => T): T {
    this.check();
    const leftMs = Math.max(1, Math.ceil(this.limitMs - (performance.now() - this.startedMs)));
    slots[SLOT] = work;
    try {
      return invokeSlot.runInThisContext({timeout: leftMs}) as T;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      throw new TimeLimitError(this.limitMs, Math.round(performance.now() - this.startedMs));
    } finally {
      slots[SLOT] = undefined;
    }
  }
}
