/**
 * Reports the state of a followed source when it changes.
 *
 * "waiting" is reported only after it has lasted a while: rotation leaves a path without a file for a moment, and some
 * programs open a FIFO again for each line.
 */
import type {SourceChange, SourceEvent, SourceState} from "../job/importSource.ts";

const WAITING_MS = 1000;

export class SourceWatch {
  private readonly onEvent: (event: SourceEvent) => void;
  private told: SourceState | undefined;
  private current: SourceState | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(onEvent: (event: SourceEvent) => void) {
    this.onEvent = onEvent;
  }

  set(state: SourceState): void {
    if (state === this.current) return;
    this.current = state;
    clearTimeout(this.timer);
    if (state === "waiting") this.timer = setTimeout(() => this.tellState(), WAITING_MS);
    else this.tellState();
  }

  tell(change: SourceChange, line?: number): void {
    this.onEvent({kind: "change", change, ...(line === undefined ? {} : {line})});
  }

  close(): void {
    clearTimeout(this.timer);
  }

  private tellState(): void {
    if (this.current === undefined || this.current === this.told) return;
    this.told = this.current;
    this.onEvent({kind: "state", state: this.current});
  }
}
