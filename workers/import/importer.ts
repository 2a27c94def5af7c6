/**
 * The import job: takes the steps of a source one after the other, and reports what is on disk.
 *
 *   read       the source's next step; commands are executed while waiting
 *   check      the block follows the newest one, and its changes give the root of its header (blockIntake.ts)
 *   write      several blocks share a synced write while the source has more. Otherwise the complete blocks are written
 *              at once, so that a single block is visible immediately. Checks of the next blocks continue
 *   announce   the head that is on disk now
 */

import {setTimeout as sleep} from "node:timers/promises";
import {SnapshotNeeded, type SourceBlock, type SourceStep, Stopped} from "../../nodes/blocks/sourceStep.ts";
import {checkChainId} from "../../storage/block/format.ts";
import type {FinalityStep} from "../../storage/commit/finalityStep.ts";
import {putProvenSlots} from "../../storage/commit/provenSlots.ts";
import {isDamage} from "../../storage/errors.ts";
import {performStep} from "../../storage/prune/pruneWriter.ts";
import type {StateStore} from "../../storage/stateStore.ts";
import type {
  ChainCommand,
  CommandAnswer,
  ImportJob,
  ImportMessage,
  ImportOutcome,
} from "../messages/importJob.ts";
import type {PullSource, StateSource} from "../messages/importSource.ts";
import {BlockIntake} from "./blockIntake.ts";
import {isFinal, isRefusal, isWriteFailure, reasonOf} from "./importFailure.ts";
import {type BlockSource, openSource} from "./openedSource.ts";
import type {WholeState} from "./pulledState.ts";

/** When a source gives nothing for this long, the complete blocks are written. */
const IDLE_MS = 5;
/** Complete blocks are written at least this often, so that a bulk import shows progress and can resume. */
const FLUSH_INTERVAL_MS = 1000;

export class Importer {
  /** It is executed between two steps of the source. The next one comes after its answer. */
  private command: ChainCommand | undefined;
  /** Ends the wait for the next step, or for a command. */
  private wake = (): void => {};
  private stopped = false;
  /** The block being taken. */
  private current: SourceBlock | undefined;
  private flushedAt = performance.now();
  /** The last write with its announcement. It ends before another one begins, and before a command is executed. */
  private announced: Promise<void> = Promise.resolve();

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
    this.ending.abort(new Stopped());
  }

  /** The answer is an event, at the latest after the current block. Once the import has ended, there is none. */
  take(command: ChainCommand): void {
    this.command = command;
    this.wake();
  }

  /** Expected failures are outcomes. All complete blocks before them are on disk. */
  async run(): Promise<ImportOutcome> {
    const {source, chainId} = this.job;
    try {
      checkChainId(this.store.reader.readChain(), chainId);
      if (source.kind === "pull" || source.kind === "state") await this.begin(source);
      else await this.takeSteps(source);
    } catch (error) {
      if (!(error instanceof Stopped)) return await this.fail(error);
    }
    return this.finish();
  }

  private async takeSteps(source: BlockSource): Promise<void> {
    const {store, intake, ending, onEvent} = this;
    const {signal} = ending;
    const {writer, progress} = intake;
    const host = {writer, reader: store.reader, signal, progress, onEvent};
    const steps = await openSource(source, this.job, host);
    try {
      while (!this.stopped) {
        const step = await this.readStep(steps);
        if (step === undefined) return;
        if (step.kind === "block") await this.takeBlock(step);
        else if (step.kind === "rollback") await this.leaveBranch(step.to);
        else {
          if (step.layer1 !== undefined) await this.recordFinality(step.layer1);
          await this.finalize(step.block, step.hash);
        }
      }
    } finally {
      ending.abort();
      await steps.return(undefined);
    }
  }

  /** Writes the complete blocks if the source has nothing ready. @returns undefined after the last step */
  private async readStep(steps: AsyncGenerator<SourceStep>): Promise<SourceStep | undefined> {
    const next = steps.next();
    if (this.intake.writer.batch.hasPending && !(await isSettledWithin(next, IDLE_MS)))
      await this.beginFlush();
    // A write that is refused ends the import, however long the source takes.
    await Promise.race([next, this.announced]);
    await this.executeUntil(next);
    const {done, value} = await next;
    return done === true ? undefined : value;
  }

  private async takeBlock(block: SourceBlock): Promise<void> {
    this.current = block;
    await this.intake.take(block);
    if (this.intake.writer.batch.isFull || performance.now() - this.flushedAt > FLUSH_INTERVAL_MS)
      await this.beginFlush();
    this.current = undefined;
  }

  /** @param ancestor - the last block that the branches share */
  private async leaveBranch(ancestor: number): Promise<void> {
    const {latest} = this.intake.writer;
    // A command may have removed blocks, perhaps more than these.
    if (latest === undefined || latest <= ancestor) return;
    await this.flush();
    const {reader} = this.store;
    // The ancestor may be a block of which only the header is stored.
    const to = (await reader.unprunedBelow(ancestor + 1)) ?? reader.firstBlock - 1;
    await this.rollback(to);
    const beginsAgain = this.intake.writer.latest === undefined;
    this.onEvent({kind: "reorganised", latest, ancestor: to, beginsAgain});
  }

  private async begin(source: PullSource | StateSource): Promise<void> {
    const {signal} = this.ending;
    await this.intake.begin(await openWhole(source, signal), () => {
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
      return await this.fail(error);
    }
    const {head, blocks} = this.intake;
    return {ok: true, head, blocks, alreadyStored: this.intake.alreadyStored, stopped: this.stopped};
  }

  /** Executes the commands that come before `next`, the source's next step, has settled. */
  private async executeUntil(next: Promise<unknown>): Promise<void> {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
      this.wake();
    };
    next.then(settle, settle);
    for (;;) {
      const {command} = this;
      this.command = undefined;
      if (command !== undefined) await this.execute(command);
      else if (isSettled) return;
      else
        await new Promise<void>(resolve => {
          this.wake = resolve;
        });
    }
  }

  /** Called only between two steps. */
  private async execute(command: ChainCommand): Promise<void> {
    let refusal: CommandAnswer["refusal"];
    await this.announced;
    try {
      if ("rollback" in command) await this.rollback(command.rollback);
      else if ("finality" in command) await this.recordFinality(command.finality);
      else if ("finalize" in command) await this.finalize(command.finalize, command.hash);
      else if ("slots" in command) {
        putProvenSlots(this.store.reader, this.intake.writer.batch, command.slots);
        await this.flush();
      } else {
        await performStep(this.store, command.prune);
        if (command.prune.kind === "retire") await this.reportHead();
      }
    } catch (error) {
      // A damaged or pruned record of an old block stops the command, not the import.
      const isOld = "prune" in command || "slots" in command;
      if (!isRefusal(error) && !(isOld && isDamage(error))) throw error;
      refusal = {code: error.code, message: error.message};
    }
    this.onEvent({refusal});
  }

  /** @throws StoreError BLOCK_UNKNOWN, FINALITY_CONFLICT: nothing is marked; WRITE_FAILED */
  private async finalize(block: number, hash: Uint8Array | undefined): Promise<void> {
    this.intake.writer.finalizeStored(block, hash);
    await this.flush();
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

  /** Makes all blocks durable and visible. */
  private async flush(): Promise<void> {
    await this.beginFlush();
    await this.announced;
  }

  /** Waits only for the previous write. */
  private async beginFlush(): Promise<void> {
    await this.announced;
    this.flushedAt = performance.now();
    this.announced = this.intake.flush().then(() => this.reportHead());
    this.announced.catch(() => {}); // the next step awaits it
  }

  private async reportHead(): Promise<void> {
    await this.intake.readHead();
    this.onEvent(this.intake.describe());
  }

  private async fail(error: unknown): Promise<ImportOutcome> {
    let writeFailed = isWriteFailure(error);
    const line = writeFailed ? undefined : this.current?.line;
    let message = `${line === undefined ? "" : `line ${line}: `}${reasonOf(error)}`;
    try {
      // Opening the store removes what could not be written.
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
    const needsSnapshot = error instanceof SnapshotNeeded;
    return {ok: false, head, blocks, message, writeFailed, isFinal: isFinal(error), needsSnapshot};
  }
}

async function openWhole(source: PullSource | StateSource, signal: AbortSignal): Promise<WholeState> {
  // Loaded only if needed: the formats of pulls, the rules of chains.
  if (source.kind === "pull") return (await import("./pulledState.ts")).openPull(source, signal);
  const {openState} = await import("./dumpedState.ts");
  return openState(source, signal);
}

/** Resolves to false if `promise` takes longer. */
async function isSettledWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, sleep(ms, false)]);
}
