/**
 * Downloads a snapshot for a replica whose feed does not continue its store. The replica keeps serving; the snapshot
 * replaces the store at the next start.
 */
import type {Logger} from "pino";
import {isSameFailure} from "../../../nodes/rpc/node.ts";
import type {Engine} from "../../../workers/engine.ts";
import {type SnapshotMiss, type SnapshotTarget, takeBesideServed} from "./firstSnapshot.ts";

interface ReplacementParts {
  readonly target: SnapshotTarget;
  readonly engine: Engine;
  /** At the start. */
  readonly refused: SnapshotMiss | undefined;
  /** Whether the feed still does not continue the store. */
  readonly isNeeded: () => boolean;
  /** Called when the snapshot will replace the store at the next start. */
  readonly onTaken: () => void;
  readonly log: Logger;
}

export class StoreReplacement {
  private readonly stopping = new AbortController();
  private work: Promise<void> | undefined;
  private missed: SnapshotMiss | undefined;
  private remark: string;

  constructor(private readonly parts: ReplacementParts) {
    this.missed = parts.refused;
    this.remark = parts.refused?.reason ?? "";
  }

  /** Starts an attempt unless one is running. @returns the result of the previous one, or "" */
  attempt(): string {
    if (!this.stopping.signal.aborted)
      this.work ??= this.run().finally(() => {
        this.work = undefined;
      });
    return this.remark;
  }

  async stop(): Promise<void> {
    this.stopping.abort(new Error("stopped"));
    await this.work;
  }

  /** Never rejects. */
  private async run(): Promise<void> {
    const {target, engine, isNeeded, onTaken, log} = this.parts;
    const {signal} = this.stopping;
    const {chainId, suite, newest: block} = engine.chain;
    // The store may be empty: any snapshot is newer.
    const newest = {block, chainId, suite, finalized: engine.chain.head().finalized};
    const served = {newest, reader: engine.store.reader, isServed: true, close() {}};
    let reason: string;
    try {
      const missed = await takeBesideServed(target, served, this.missed, isNeeded, log, signal);
      if (missed === undefined) {
        this.stopping.abort(new Error("taken"));
        return onTaken();
      }
      this.missed = missed;
      reason = missed.reason;
    } catch (error) {
      if (signal.aborted) return;
      reason = `No snapshot could be taken: ${(error as Error).message}`;
    }
    if (reason !== "" && !isSameFailure(this.remark, reason))
      log.warn({reason}, "no snapshot replaces the store yet");
    this.remark = reason;
  }
}
