/**
 * Polls a source of finality (layer1Finality.ts or tagFinality.ts). If the source contradicts itself or the store,
 * finality stays where it is until the contradiction is gone.
 */
import {setTimeout as sleep} from "node:timers/promises";
import type {Logger} from "pino";
import {isSameFailure} from "../../../nodes/rpc/node.ts";
import type {FinalityStateName, FinalityStatus} from "../../observe/finalityStatus.ts";

export interface FinalitySource {
  /**
   * Asks the source once and marks finalized blocks in the store. @returns "reading" if the source has more to read
   * @throws Contradiction, StoreError, NodeRefusal, which stop finality until a step succeeds; the signal's reason
   */
  step(signal: AbortSignal): Promise<Exclude<FinalityStateName, "stopped">>;
  /** Resolves when a step is worthwhile before the next poll, or with the signal. */
  untilDue?(signal: AbortSignal): Promise<void>;
}

export class Finalizing {
  private readonly ending = new AbortController();
  private readonly ended: Promise<void>;

  /** @param pollMs - from the start of one poll to the next, unless the answer takes longer */
  constructor(
    private readonly source: FinalitySource,
    private readonly status: FinalityStatus,
    private readonly pollMs: number,
    private readonly log: Logger,
  ) {
    this.ended = this.run(this.ending.signal);
  }

  async stop(): Promise<void> {
    this.ending.abort(new Error("finality is no longer followed"));
    await this.ended;
  }

  private async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const startMs = performance.now();
      const isMore = await this.tryStep(signal);
      // From the start of the poll, so that its period does not grow with the answer's time.
      const restMs = this.pollMs - (performance.now() - startMs);
      if (!isMore && restMs > 0) await this.rest(restMs, signal);
    }
  }

  private async rest(ms: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const end = (): void => over.abort();
    signal.addEventListener("abort", end, {signal: over.signal});
    if (signal.aborted) end();
    // The sleep rejects only when it is aborted.
    const waits = [sleep(ms, undefined, {signal: over.signal}).catch(() => {})];
    // After a failure, a step would be due at once, and fail again.
    if (this.source.untilDue !== undefined && this.status.state !== "stopped")
      waits.push(this.source.untilDue(over.signal));
    await Promise.race(waits);
    end();
  }

  private async tryStep(signal: AbortSignal): Promise<boolean> {
    try {
      const state = await this.source.step(signal);
      this.recover(state);
      return state === "reading";
    } catch (error) {
      if (!signal.aborted) this.fail((error as Error).message);
      return false;
    }
  }

  private recover(state: FinalityStateName): void {
    const {status} = this;
    if (status.state === "stopped") this.log.info("finality continues after a stop");
    else if (status.state === "reading" && state === "following")
      this.log.info({known: status.known}, "everything that is final was read; new finality is followed");
    status.state = state;
    status.reason = "";
  }

  private fail(reason: string): void {
    const {status} = this;
    const isKnown = status.state === "stopped" && isSameFailure(status.reason, reason);
    status.state = "stopped";
    status.reason = reason;
    this.log[isKnown ? "debug" : "error"]({reason}, "finality has stopped, the service continues");
  }
}
