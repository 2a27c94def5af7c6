/** What calls that wait for their next slice can go on with. There is room for a few; a call beyond it begins again. */
import {memoryOf, type PausedEstimate} from "../../workers/job/pausedEstimate.ts";

const MAX_CALLS = 16;
const MAX_BYTES = 64 << 20;

export class PausedCalls {
  /** How many calls began again. */
  restarts = 0;
  private readonly kept = new Map<object, PausedEstimate>();

  /** @param call - that waits. @param paused - undefined: it can only begin again */
  keep(call: object, paused: PausedEstimate | undefined): void {
    let bytes = paused === undefined ? 0 : memoryOf(paused).length;
    for (const other of this.kept.values()) bytes += memoryOf(other).length;
    if (paused === undefined || this.kept.size === MAX_CALLS || bytes > MAX_BYTES) this.restarts++;
    else this.kept.set(call, paused);
  }

  /** The call waits no longer. @returns undefined: it begins again */
  take(call: object): PausedEstimate | undefined {
    const paused = this.kept.get(call);
    this.kept.delete(call);
    return paused;
  }
}
