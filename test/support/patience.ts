/**
 * Limits of tests, in seconds of a machine with nothing else to do: while more wants a processor than there are, or this process gets
 * none, less of a limit goes by. So a busy machine breaks no test, and one that hangs is still found.
 */
import {availableParallelism, loadavg} from "node:os";

const LOOK_MS = 1000;

// A test may take over the clock.
const {setTimeout: startTimer, clearTimeout: stopTimer} = globalThis;

/** @param load - what ran or wanted to, on average. @returns how much of a look's time counts */
export function countTime(load: number, processors: number): number {
  return LOOK_MS * Math.min(1, processors / load);
}

export class Patience {
  private leftMs: number;
  private timer: NodeJS.Timeout;

  /** @param onEnd - called when the time is over. It is not once this was stopped */
  constructor(
    private readonly limitMs: number,
    private readonly onEnd: () => void,
  ) {
    this.leftMs = limitMs;
    this.timer = this.wait();
  }

  /** The whole time again. */
  refresh(): void {
    this.leftMs = this.limitMs;
  }

  stop(): void {
    stopTimer(this.timer);
  }

  private wait(): NodeJS.Timeout {
    return startTimer(
      () => {
        // The time between two looks is not read: a look that comes late has waited for a processor.
        this.leftMs -= countTime(loadavg()[0] as number, availableParallelism());
        if (this.leftMs <= 0) this.onEnd();
        else this.timer = this.wait();
      },
      Math.min(LOOK_MS, this.leftMs),
    );
  }
}
