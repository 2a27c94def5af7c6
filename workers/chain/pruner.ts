/**
 * Prunes the blocks that are not kept, whenever finality rises.
 *
 *   ChainView -- onChange --> Pruner -- job: which pages? --> prune thread
 *                               |   <-- 1024 page numbers --
 *                               '-- small steps --> ChainWrites, between the blocks of an import
 *
 * A run that has begun is finished even if the retention changed, because its blocks cannot be proved any more.
 */
import {setTimeout as sleep} from "node:timers/promises";
import {StoreError} from "../../storage/errors.ts";
import {Compaction} from "../../storage/prune/compaction.ts";
import {type PruneRun, readRun} from "../../storage/prune/pruneRecord.ts";
import {type PruneStep, STEP_BLOCKS} from "../../storage/prune/pruneWriter.ts";
import type {Retention} from "../../storage/prune/retention.ts";
import type {StateStore} from "../../storage/stateStore.ts";
import type {FoundPages, PruneJob} from "../messages/pruneJob.ts";
import {SupervisedThread, ThreadLost} from "../threads/supervisor.ts";
import type {WorkerSettings} from "../threads/workerStore.ts";
import type {ChainView} from "./chainView.ts";
import type {ChainWrites} from "./chainWrites.ts";

export interface PrunerOptions {
  readonly retention: Retention;
  /** Rest after each step for as long as it took, for other work of the process. */
  readonly rests: boolean;
  readonly onEvent: (event: PruneEvent) => void;
}

export type PruneEvent =
  | {readonly kind: "begin"; readonly run: PruneRun}
  /** Nothing is left to prune. The counts are since the last "begin". */
  | {readonly kind: "end"; readonly blocks: number; readonly pages: number; readonly ms: number}
  /** The disk refused a write. Pruning continues once the store is reopened. */
  | {readonly kind: "waits"; readonly error: StoreError}
  /** Nothing is pruned before the store is reopened, by this process or the next. */
  | {readonly kind: "failed"; readonly error: unknown};

const CACHE_BYTES = 1 << 20;
/** Between two searches while the thread cannot start. */
const LOST_PAUSE_MS = 1000;

export class Pruner {
  /** Pruned block records and removed pages since the start. */
  blocks = 0;
  pages = 0;
  hasFailed = false;
  private readonly compaction: Compaction;
  /** Of the current work. After an abort, an error of that work is no failure. */
  private stopping = new AbortController();
  /** Starts with the first search. */
  readonly thread: SupervisedThread<PruneJob, FoundPages>;
  private unwatch = (): void => {};
  /** Resolves when there is nothing to prune, or after a failure. */
  private work: Promise<void> = Promise.resolve();
  /** Its blocks count as pruned, even if the store refused its first write. */
  private begun: PruneRun | undefined;
  private isWorking = false;
  private isClosed = false;

  /** @param onLost - called each time the prune thread died or could not start */
  constructor(
    private readonly store: StateStore,
    private readonly chain: ChainView,
    private readonly writes: Pick<ChainWrites, "prune">,
    private readonly options: PrunerOptions,
    onLost: (error: ThreadLost) => void,
  ) {
    this.compaction = new Compaction(store.db);
    const workerData: WorkerSettings = {directory: store.directory, cacheBytes: CACHE_BYTES};
    const module = new URL("./pruneWorker.js", import.meta.url);
    this.thread = new SupervisedThread({kind: "prune", module, workerData}, onLost);
  }

  /** How many of the lowest blocks remain to be pruned. */
  get backlog(): number {
    return this.options.retention.backlog(this.chain.pruned, this.chain.head().finalized ?? -1);
  }

  start(): void {
    this.unwatch = this.chain.onChange(() => this.wake());
    this.wake();
  }

  /** Resolves when there is nothing to prune, or after a failure. */
  async idle(): Promise<void> {
    while (this.isWorking) await this.work;
  }

  /** Ends after the current step. Call it before the writes end. */
  async stop(): Promise<void> {
    this.unwatch();
    this.isClosed = true;
    this.stopping.abort();
    await this.work;
    await this.thread.destroy();
  }

  /** Ends the thread, so that the store can be closed. Nothing is pruned until `resume`. */
  async rest(): Promise<void> {
    this.stopping.abort();
    await this.thread.rest();
  }

  /** Prunes again, also after a failure. */
  resume(): void {
    if (this.isClosed) return;
    this.stopping = new AbortController();
    this.hasFailed = false;
    this.wake();
  }

  /** Never throws: a damaged record of the pruning is no failure of what changed the chain. */
  private wake(): void {
    const {signal} = this.stopping;
    if (this.isWorking || this.hasFailed || signal.aborted) return;
    let run: PruneRun | undefined;
    try {
      run = this.findRun();
    } catch (error) {
      this.fail(error);
      return;
    }
    if (run === undefined) return;
    this.isWorking = true;
    this.work = this.pruneAll(run, signal).finally(() => {
      this.isWorking = false;
      this.wake();
    });
  }

  private fail(error: unknown): void {
    this.hasFailed = true;
    this.options.onEvent({kind: "failed", error});
  }

  /** Never rejects. */
  private async pruneAll(first: PruneRun, signal: AbortSignal): Promise<void> {
    const startMs = performance.now();
    const before = {blocks: this.blocks, pages: this.pages};
    const {onEvent} = this.options;
    try {
      let run: PruneRun | undefined = first;
      onEvent({kind: "begin", run});
      for (; run !== undefined && !signal.aborted; run = this.findRun()) await this.prune(run, signal);
      if (!signal.aborted) await this.compaction.runIfDue(signal);
      if (signal.aborted) return;
      const ms = performance.now() - startMs;
      onEvent({kind: "end", blocks: this.blocks - before.blocks, pages: this.pages - before.pages, ms});
    } catch (error) {
      // The thread was ended, or a pause, or the store was closed.
      if (signal.aborted) return;
      if (!(error instanceof StoreError && error.code === "WRITE_FAILED")) return this.fail(error);
      this.stopping.abort();
      onEvent({kind: "waits", error});
    }
  }

  private findRun(): PruneRun | undefined {
    const {finalized} = this.chain.head();
    if (finalized === undefined) return undefined;
    return (
      readRun(this.store.reader) ?? this.begun ?? this.options.retention.nextRun(this.chain.pruned, finalized)
    );
  }

  private async prune(run: PruneRun, signal: AbortSignal): Promise<void> {
    this.begun = run;
    for (let from = run.first; from < run.next && !signal.aborted; from += STEP_BLOCKS) {
      const until = Math.min(from + STEP_BLOCKS, run.next);
      // Before the write, so that no block is reported as provable that no longer is.
      this.blocks += this.chain.addPruned(from, until - 1);
      await this.write({kind: "retire", run, from, until}, signal);
    }
    for (let restarts = true; !signal.aborted; restarts = false) {
      const {pages, isDone} = await this.search({run, restarts}, signal);
      if (pages.length > 0) {
        await this.write({kind: "remove", pages}, signal);
        this.pages += pages.length;
        this.compaction.note(pages);
      }
      if (!isDone) continue;
      await this.write({kind: "end"}, signal);
      this.begun = undefined;
      return;
    }
  }

  /** Searches again from the beginning if the thread was lost. */
  private async search(job: PruneJob, signal: AbortSignal): Promise<FoundPages> {
    for (;;) {
      try {
        return await this.thread.run(job);
      } catch (error) {
        if (!(error instanceof ThreadLost) || signal.aborted) throw error;
      }
      await sleep(LOST_PAUSE_MS, undefined, {signal});
      job = {...job, restarts: true};
    }
  }

  private async write(step: PruneStep, signal: AbortSignal): Promise<void> {
    const startMs = performance.now();
    await this.writes.prune(step);
    if (this.options.rests && !signal.aborted) await sleep(performance.now() - startMs);
  }
}
