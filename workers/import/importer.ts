/**
 * The import job: takes blocks from a source, writes those that are not stored yet, and reports what is on disk.
 *
 * Several blocks share a synced write while the source has more to give. As soon as it has not, the complete blocks are
 * written, so that a block that comes alone is provable at once.
 */

import {checkChainId} from "../../storage/block/format.ts";
import type {FinalityStep} from "../../storage/commit/finalityStep.ts";
import {isDamage, type StoreError} from "../../storage/errors.ts";
import {performStep} from "../../storage/prune/pruneWriter.ts";
import type {StateStore} from "../../storage/stateStore.ts";
import type {ImportJob, ImportMessage, ImportOutcome, NumberedOrder} from "../messages/importJob.ts";
import type {PullSource} from "../messages/importSource.ts";
import {BlockIntake} from "./blockIntake.ts";
import {isFinal, isRefusal, isWriteFailure, reasonOf, whereOf} from "./importFailure.ts";
import {openSource} from "./openedSource.ts";
import {OrderQueue, type QueuedOrder} from "./orderQueue.ts";
import {openPull} from "./pulledState.ts";
import {type SourceBlock, Stopped} from "./sourceBlock.ts";

/** When a source gives nothing for this long, the complete blocks are written. */
const IDLE_MS = 5;
/** Complete blocks are written at least this often, so that a bulk import shows progress and can resume. */
const FLUSH_INTERVAL_MS = 1000;

export class Importer {
  private readonly orders = new OrderQueue();
  private stopped = false;
  private flushedAt = performance.now();

  private constructor(
    private readonly store: StateStore,
    private readonly job: ImportJob,
    private readonly intake: BlockIntake,
    private readonly ending: AbortController,
    private readonly onEvent: (event: ImportMessage) => void,
  ) {}

  static async create(
    store: StateStore,
    job: ImportJob,
    onEvent: (event: ImportMessage) => void,
  ): Promise<Importer> {
    const ending = new AbortController();
    const intake = await BlockIntake.create(store, job, ending.signal, onEvent);
    return new Importer(store, job, intake, ending, onEvent);
  }

  /** Asks the import to end after the current block. */
  stop(): void {
    this.stopped = true;
    this.ending.abort();
  }

  /** The answer is an event, at the latest after the current block. Once the import is over, there is no answer. */
  take(order: NumberedOrder): void {
    this.orders.push({
      order,
      answer: error => {
        const refusal = error === undefined ? undefined : {code: error.code, message: error.message};
        this.onEvent({order: order.order, refusal});
      },
      // An import that ends answers no more orders.
      fail: () => {},
    });
  }

  /** Expected failures are outcomes. All blocks that were complete before them are on disk. */
  async run(): Promise<ImportOutcome> {
    let at: SourceBlock | undefined;
    try {
      checkChainId(this.store.reader.readChain(), this.job.chainId);
      const {signal} = this.ending;
      const {source} = this.job;
      if (source.kind === "pull") {
        await this.begin(source);
        return await this.finish();
      }
      const {blocks, input} = await openSource(source, this.job, {
        writer: () => this.intake.writer,
        rollback: to => this.orderForSource({rollback: to}),
        finalize: (block, hash) => this.orderForSource({finalize: block, hash}),
        recordFinality: finality => this.orderForSource({finality}),
        reader: this.store.reader,
        signal,
        onEvent: this.onEvent,
      });
      this.intake.input = input;
      for await (const block of this.whileIdle(blocks)) {
        if (block.isOutdated?.() === true) continue;
        at = block;
        await this.intake.take(block);
        if (this.intake.writer.isFull || performance.now() - this.flushedAt > FLUSH_INTERVAL_MS)
          await this.flush();
        at = undefined;
        if (this.stopped) break;
      }
    } catch (error) {
      if (!(error instanceof Stopped)) return await this.fail(error, at);
    }
    return this.finish();
  }

  /** Begins the store with a pulled state. */
  private async begin(source: PullSource): Promise<void> {
    const {signal} = this.ending;
    await this.intake.begin(await openPull(source, signal), () => {
      if (signal.aborted) throw new Stopped();
      if (performance.now() - this.flushedAt < FLUSH_INTERVAL_MS) return;
      this.flushedAt = performance.now();
      this.onEvent(this.intake.describe());
    });
  }

  private async finish(): Promise<ImportOutcome> {
    try {
      await this.flush();
    } catch (error) {
      return await this.fail(error, undefined);
    }
    const {head, blocks} = this.intake;
    return {ok: true, head, blocks, alreadyHeld: this.intake.alreadyHeld, stopped: this.stopped};
  }

  /** Yields the source's blocks. Writes the complete ones whenever the source has nothing ready. */
  private async *whileIdle(source: AsyncGenerator<SourceBlock>): AsyncGenerator<SourceBlock> {
    try {
      for (;;) {
        const next = source.next();
        if (this.intake.writer.hasPending && !(await isSettledWithin(next, IDLE_MS))) await this.flush();
        await this.orders.obeyUntilSettled(next, order => this.obey(order));
        const {done, value} = await next;
        if (done === true) return;
        yield value;
      }
    } finally {
      this.ending.abort();
      this.orders.end();
      await source.return(undefined);
    }
  }

  /** Called only while no block is being applied. */
  private async obey({order, answer, fail}: QueuedOrder): Promise<void> {
    try {
      if ("rollback" in order) await this.rollback(order.rollback);
      else if ("finality" in order) await this.recordFinality(order.finality);
      else if ("prune" in order) {
        await performStep(this.store, order.prune);
        if (order.prune.kind === "retire") await this.reportHead();
      } else {
        this.intake.writer.finalizeHeld(order.finalize, order.hash);
        await this.flush();
      }
    } catch (error) {
      // An old block's record that is damaged stops the pruning, and not the import.
      if (!isRefusal(error) && !("prune" in order && isDamage(error))) {
        fail(error);
        throw error;
      }
      answer(error);
      return;
    }
    answer(undefined);
  }

  /** For the source, while its next block is awaited. Orders from outside have their turn. */
  private orderForSource(order: QueuedOrder["order"]): Promise<void> {
    return new Promise((resolve, reject) => {
      const answer = (refusal: StoreError | undefined): void =>
        refusal === undefined ? resolve() : reject(refusal);
      this.orders.push({order, answer, fail: reject});
    });
  }

  private async recordFinality(step: FinalityStep): Promise<void> {
    await this.flush();
    this.intake.writer.recordFinality(step);
    await this.flush();
  }

  private async rollback(to: number): Promise<void> {
    await this.flush();
    try {
      await this.intake.rollback(to);
    } finally {
      await this.reportHead();
    }
    await this.flush();
  }

  private async flush(): Promise<void> {
    await this.intake.flush();
    this.flushedAt = performance.now();
    await this.reportHead();
  }

  private async reportHead(): Promise<void> {
    await this.intake.readHead();
    this.onEvent(this.intake.describe());
  }

  private async fail(error: unknown, at: SourceBlock | undefined): Promise<ImportOutcome> {
    let writeFailed = isWriteFailure(error);
    let message = `${writeFailed || at === undefined ? "" : whereOf(at)}${reasonOf(error)}`;
    try {
      // The next opening of the store clears away what could not be written.
      if (!writeFailed) {
        await this.flush();
        await this.store.reclaim();
      }
    } catch (second) {
      writeFailed = isWriteFailure(second);
      message += `; then: ${reasonOf(second)}`;
    }
    await this.intake.readHead();
    const {head, blocks} = this.intake;
    return {ok: false, head, blocks, message, writeFailed, isFinal: isFinal(error)};
  }
}

/** Resolves to false if `promise` takes longer. */
async function isSettledWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const idle = new Promise<false>(resolve => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const settled = promise.then(
    () => true,
    () => true,
  );
  const first = await Promise.race([settled, idle]);
  clearTimeout(timer);
  return first;
}
