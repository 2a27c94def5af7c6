/**
 * Everything that changes the stored chain: imports, finality, rollbacks, pruning, slots that are fetched.
 *
 * While an import runs, only its thread writes: it executes commands between two blocks. Otherwise this thread writes.
 * Commands are executed one after the other, and no import begins in the middle of one.
 */
import {BlockWriter} from "../../storage/commit/blockWriter.ts";
import type {FinalityStep} from "../../storage/commit/finalityStep.ts";
import {type ProvenSlots, putProvenSlots} from "../../storage/commit/provenSlots.ts";
import {missingSpace} from "../../storage/directory/diskSpace.ts";
import {StoreError} from "../../storage/errors.ts";
import {type PruneStep, performStep} from "../../storage/prune/pruneWriter.ts";
import type {StateStore} from "../../storage/stateStore.ts";
import type {Head} from "../messages/head.ts";
import type {ChainCommand, ImportEvent, ImportJob, ImportOutcome} from "../messages/importJob.ts";
import type {SourceEvent} from "../messages/importSource.ts";
import type {Running} from "../threads/running.ts";
import {readHead} from "../threads/storedHead.ts";
import type {ChainView} from "./chainView.ts";
import {type ImportListeners, ImportSession, type ImportThread} from "./importSession.ts";

/** Between two checks whether the disk takes writes again. Doubles each time the store was reopened. */
const FIRST_LOOK_MS = 2_000;
const LAST_LOOK_MS = 60_000;

export class ChainWrites {
  private readonly sessions = new Set<ImportSession>();
  private commands: Promise<unknown> = Promise.resolve();
  /**
   * Why a write was refused. LevelDB's log may end within a record then, and what is appended to it could not be read.
   * So nothing is written until the store is reopened.
   */
  private refused: string | undefined;
  /** What the disk lacked when it was last checked. */
  private missing: string | undefined;
  private look: NodeJS.Timeout | undefined;
  private lookMs = FIRST_LOOK_MS;
  private isEnding = false;

  /** @param reopen - in all threads; a failure ends all writing. @param onStopped - undefined: goes on */
  constructor(
    private readonly store: StateStore,
    private readonly chain: ChainView,
    private readonly thread: ImportThread,
    private readonly reopen: () => Promise<void>,
    private readonly onStopped: (reason: string | undefined) => void,
  ) {}

  startImport(job: Omit<ImportJob, "port">, listeners: ImportListeners): Running<ImportOutcome> {
    if (this.refused !== undefined) return this.refuseImport(this.refused);
    const onEvent = (event: ImportEvent): void => {
      this.chain.setHead(event.head, event.rollbacks);
      listeners.onEvent(event);
    };
    const onSource = (event: SourceEvent): void => {
      if (event.kind === "missed") this.chain.addMissed(event.from, event.to);
      listeners.onSource(event);
    };
    const onOutcome = (outcome: ImportOutcome): void => {
      this.chain.setHead(outcome.head, this.chain.rollbackSignal.count);
      if (!outcome.ok && outcome.writeFailed) this.refuse(outcome.message);
    };
    const begun = {...job, rollbackSignal: this.chain.rollbackSignal.cells};
    const session = new ImportSession(this.thread, begun, this.commands, {onEvent, onSource, onOutcome});
    this.sessions.add(session);
    void session.ended.then(() => this.sessions.delete(session));
    return session;
  }

  /**
   * A lower number changes nothing. @param hash - 32 bytes, that the block must have when the command is executed
   *
   * @throws StoreError BLOCK_UNKNOWN, FINALITY_CONFLICT, WRITE_FAILED
   */
  finalize(block: number, hash?: Uint8Array): Promise<Head> {
    const command = hash === undefined ? {finalize: block} : {finalize: block, hash};
    return this.runWithWriter(command, writer => writer.finalizeStored(block, hash));
  }

  /** All events or none. @throws StoreError BLOCK_UNKNOWN, FINALITY_CONFLICT (finalityStep.ts), WRITE_FAILED */
  recordFinality(step: FinalityStep): Promise<Head> {
    return this.runWithWriter({finality: step}, writer => writer.recordFinality(step));
  }

  /** A running import continues after `block`. @throws StoreError FINALIZED, BLOCK_UNKNOWN, WRITE_FAILED */
  rollback(block: number): Promise<Head> {
    return this.enqueue({rollback: block}, async () => {
      const head = this.chain.head();
      const {finalized = -1, latest = -1} = head;
      if (finalized <= block && block < latest) this.chain.setHead({...head, latest: block});
      try {
        await this.store.rollback(block);
      } catch (error) {
        this.chain.setHead(await readHead(this.store));
        throw error;
      }
    });
  }

  /** @throws StoreError FINALIZED, RECORD_DAMAGED, WRITE_FAILED */
  prune(step: PruneStep): Promise<Head> {
    return this.enqueue({prune: step}, () => performStep(this.store, step));
  }

  /** See provenSlots.ts. @throws StoreError as putProvenSlots, WRITE_FAILED */
  keepSlots(slots: readonly ProvenSlots[]): Promise<Head> {
    return this.runWithWriter({slots}, ({batch}) => putProvenSlots(this.store.reader, batch, slots));
  }

  /** Stops the imports, and waits for them and for the commands. */
  async end(): Promise<void> {
    this.isEnding = true;
    clearTimeout(this.look);
    for (const session of this.sessions) session.stop();
    await Promise.all([...this.sessions].map(({ended}) => ended));
    await this.commands;
  }

  private runWithWriter(command: ChainCommand, write: (writer: BlockWriter) => void): Promise<Head> {
    return this.enqueue(command, async () => {
      const writer = await BlockWriter.create(this.store);
      write(writer);
      await writer.flush();
    });
  }

  /** @param perform - executes the command here, if no import does */
  private enqueue(command: ChainCommand, perform: () => Promise<void>): Promise<Head> {
    const result = this.commands.then(() => this.execute(command, perform));
    this.commands = result.catch(() => {}); // the caller sees it
    return result;
  }

  private async execute(command: ChainCommand, perform: () => Promise<void>): Promise<Head> {
    for (const session of this.sessions) {
      // A session that has not begun waits for this command.
      if (!session.hasBegun) continue;
      const answer = await session.send(command);
      if (answer === undefined) await session.ended;
      else if (answer.refusal === undefined) return this.chain.head();
      else throw new StoreError(answer.refusal.code, answer.refusal.message);
    }
    await this.write(perform);
    this.chain.setHead(await readHead(this.store));
    return this.chain.head();
  }

  /** @throws StoreError WRITE_FAILED */
  private async write(perform: () => Promise<void>): Promise<void> {
    if (this.refused !== undefined) throw new StoreError("WRITE_FAILED", this.describe(this.refused));
    try {
      await perform();
    } catch (error) {
      if (error instanceof StoreError && error.code === "WRITE_FAILED") this.refuse(error.message);
      throw error;
    }
  }

  private refuse(reason: string): void {
    const isFirst = this.refused === undefined;
    this.refused = reason;
    this.missing = missingSpace(this.store.directory);
    if (isFirst) this.onStopped(this.describe(reason));
    if (!this.isEnding) this.lookLater();
  }

  private lookLater(): void {
    clearTimeout(this.look);
    this.look = setTimeout(() => {
      this.commands = this.commands.then(() => this.recover());
    }, this.lookMs).unref();
  }

  /** Reopens the store if the disk takes writes. Never rejects. */
  private async recover(): Promise<void> {
    if (this.refused === undefined || this.isEnding) return;
    // A refused import writes nothing more, and is about to end.
    await Promise.all([...this.sessions].map(({ended}) => ended));
    this.missing = missingSpace(this.store.directory);
    if (this.missing !== undefined) return this.lookLater();
    this.lookMs = Math.min(2 * this.lookMs, LAST_LOOK_MS);
    try {
      await this.reopen();
      // A failed write may be there.
      this.chain.setHead(await readHead(this.store));
      this.refused = undefined;
      this.onStopped(undefined);
    } catch (error) {
      this.refused = (error as Error).message;
    }
  }

  private refuseImport(reason: string): Running<ImportOutcome> {
    const head = this.chain.head();
    const message = this.describe(reason);
    const outcome = {
      ok: false,
      head,
      blocks: 0,
      message,
      writeFailed: true,
      isFinal: false,
    } as const;
    return {outcome: Promise.resolve(outcome), stop: () => {}};
  }

  private describe(reason: string): string {
    return `nothing is written until ${this.missing ?? "the disk takes writes again"}: ${reason}`;
  }
}
