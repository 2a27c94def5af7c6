/**
 * The main thread's end of the workers: a pool that proves, one thread that writes, and a handle on the store
 * for what needs no tree (the head, a block by its hash).
 *
 *   main thread        proof threads (N)   estimate threads (M)   long estimates (M/2)   import thread (1, only while
 *   head, block by hash   prove               a slice each           to their end           it has a job)
 *        |                   |                   |                     |                     |
 *        +-------------------+-------------------+---------------------+--- one LevelDB, multithreading: true
 *
 * Four Piscina pools: a block's hashing takes no proof thread away, nor do simulations, each of which may last seconds; and
 * those that do take no thread away from the short ones.
 */
import {EventEmitter} from "node:events";
import {MessageChannel} from "node:worker_threads";
import {Piscina} from "piscina";
import type {ChainConfig} from "../../storage/block/blockDifference.ts";
import {checkChainId} from "../../storage/block/format.ts";
import {BlockWriter} from "../../storage/commit/blockWriter.ts";
import {StoreError} from "../../storage/errors.ts";
import {StateStore} from "../../storage/stateStore.ts";
import type {Answers} from "../job/answers.ts";
import type {EstimateAnswers, EstimateJob} from "../job/estimateJob.ts";
import type {EstimateSettings} from "../job/estimateSettings.ts";
import {MAX_STRETCH, SLICES} from "../job/estimateSlices.ts";
import {type Failure, failureOf} from "../job/failure.ts";
import {type Head, readHead} from "../job/head.ts";
import type {
  FinalizeAnswer,
  FinalizeOrder,
  ImportEvent,
  ImportJob,
  ImportMessage,
  ImportOutcome,
} from "../job/importJob.ts";
import type {SourceEvent} from "../job/importSource.ts";
import type {ProveJob} from "../job/proveJob.ts";
import {maxProofTextBytes} from "../prove/proofText.ts";

export {StoreError};

export interface PoolOptions {
  readonly directory: string;
  /** Proof threads, at least 1. 0 = none (import only). */
  readonly workers: number;
  /** Bytes of pages that each worker may keep. */
  readonly cacheBytes: number;
  /** May a store be made in an empty or missing directory? */
  readonly createIfMissing: boolean;
  /** For a store that this process has open already: changes nothing, not even what a crash left. */
  readonly readOnly?: boolean;
  /** Refuses a store of another chain. */
  readonly chainId?: bigint;
  /** Left out: no gas estimates. */
  readonly estimates?: EstimateOptions;
  /** A worker died: its calls fail, it is replaced. */
  readonly onWorkerExit?: (error: Error) => void;
}

export interface EstimateOptions {
  /** Estimate threads for jobs with a slice, at least 1; there are `countLongWorkers` for the others. */
  readonly workers: number;
  readonly settings: EstimateSettings;
}

/** A block as chain_getStateRoot shows it. */
export interface BlockSummary {
  readonly number: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** 32 bytes: the top root of the account tree. */
  readonly stateRoot: Uint8Array;
  /** Seconds, as a rule since 1970; undefined: its source did not say. */
  readonly timestamp?: bigint;
}

/** An import or a check under way; `stop` asks it to end after the block at hand. */
export interface Running<Outcome> {
  readonly outcome: Promise<Outcome>;
  stop(): void;
}

/** An import that takes orders. */
interface ImportUnderWay {
  /** Settles when it is over. */
  readonly ended: Promise<unknown>;
  /** @returns null if it ended before it took the order */
  finalize(block: number): Promise<FinalizeAnswer | null>;
}

/**
 * One is worked on, the next lies in the thread's own mailbox and need not wait for the main thread's turn: 1.1 to 1.2 times as
 * many transfers a second. Not so for proofs: while their thread waits, more calls come together for its next task. Nor for long
 * estimates, which take turns outside.
 */
const ESTIMATES_PER_THREAD = 2;
/**
 * Garbage of a proof thread before it is collected, MiB: V8 would take 48, of pages that are long out of the processor's
 * cache. Next to nothing of it survives, so collecting more often costs no more.
 */
const PROOF_YOUNG_MB = 12;
/** The import thread ends when it has had nothing to do for this long: the EVM's memory goes with it. */
const IMPORT_IDLE_MS = 1000;
/**
 * An estimate that is not back so long after its own time and that of the one before it is stuck where no deadline is
 * asked for: its thread is replaced. Far more than a busy machine delays a thread by.
 */
const ESTIMATE_GRACE_MS = 5000;
/**
 * Threads for estimates that take long, started when the first one comes (30 MB each). No nicer than the others: beside proofs
 * that take every core, at niceness 15 a call would get a twentieth of its time in four times that by the clock, at 10 a third.
 */
export function countLongWorkers(workers: number): number {
  return Math.max(1, workers >> 1);
}

const WRITE_FAILED_BEFORE = "a write to this store has failed before";
/** The main thread reads no pages. */
const MAIN_CACHE_BYTES = 0;

export class ProofPool {
  readonly workers: number;
  private readonly store: StateStore;
  private readonly proofs: Piscina<ProveJob, Answers> | undefined;
  private readonly estimates: Piscina<EstimateJob, EstimateAnswers> | undefined;
  private readonly longEstimates: Piscina<EstimateJob, EstimateAnswers> | undefined;
  private readonly estimateOptions: EstimateOptions | undefined;
  private readonly imports: Piscina<ImportJob, ImportOutcome>;
  private readonly running = new Set<Running<unknown>>();
  private readonly importing = new Set<ImportUnderWay>();
  /** The last `finalize`: they run one after the other, and no import begins in the middle of one. */
  private finality: Promise<unknown> = Promise.resolve();
  private currentHead: Head;
  /** Read once: block 0 fixes it. */
  private chain: ChainConfig | undefined;
  private readonly expectedChainId: bigint | undefined;
  private closing = false;
  /** After a refused write LevelDB's log may end within a record: what is appended to it could not be read again. */
  private writeFailed = false;

  private constructor(store: StateStore, head: Head, options: PoolOptions) {
    this.store = store;
    this.workers = options.workers;
    this.currentHead = head;
    this.expectedChainId = options.chainId;
    const workerData = {directory: options.directory, cacheBytes: options.cacheBytes};
    const onError = (error: Error): void => options.onWorkerExit?.(error);
    if (options.workers > 0) {
      this.proofs = new Piscina({
        filename: new URL("../prove/proofWorker.js", import.meta.url).href,
        minThreads: options.workers,
        maxThreads: options.workers,
        resourceLimits: {maxYoungGenerationSizeMb: PROOF_YOUNG_MB},
        workerData,
        recordTiming: false,
      });
      this.watch(this.proofs, "proof", onError);
    }
    this.estimateOptions = options.estimates;
    if (options.estimates !== undefined) {
      const {workers, settings} = options.estimates;
      const filename = new URL("../estimate/estimateWorker.js", import.meta.url).href;
      const estimateData = {...workerData, settings, chainId: options.chainId};
      this.estimates = new Piscina({
        filename,
        minThreads: workers,
        maxThreads: workers,
        concurrentTasksPerWorker: ESTIMATES_PER_THREAD,
        workerData: estimateData,
        recordTiming: false,
      });
      this.watch(this.estimates, "estimate", onError);
      this.longEstimates = new Piscina({
        filename,
        minThreads: 0,
        maxThreads: countLongWorkers(workers),
        idleTimeout: Number.POSITIVE_INFINITY,
        workerData: estimateData,
        recordTiming: false,
      });
      this.watch(this.longEstimates, "long estimate", onError);
    }
    this.imports = new Piscina({
      filename: new URL("../import/importWorker.js", import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IMPORT_IDLE_MS,
      workerData,
      // An import waits for its source: the thread must not sleep in Atomics.wait meanwhile.
      atomics: "disabled",
      // A thread that ends would close descriptors a second time that were opened by number and given to a socket, which
      // has closed them (import/pipe.ts).
      trackUnmanagedFds: false,
      recordTiming: false,
    });
    this.imports.on("error", onError);
  }

  /** @throws StoreError (see storage/errors.ts; `code` and `message` are for the operator) */
  static async open(options: PoolOptions): Promise<ProofPool> {
    const {directory, createIfMissing, chainId} = options;
    const store = await StateStore.open({
      directory,
      createIfMissing,
      role: options.readOnly === true ? "sharer" : "owner",
      cacheBytes: MAIN_CACHE_BYTES,
    });
    try {
      checkChainId(store.reader.readChain(), chainId);
      const pool = new ProofPool(store, await readHead(store), options);
      try {
        // A thread that cannot start says why.
        await pool.proofs?.run({calls: new Uint8Array(0), ids: []});
        await pool.estimates?.run({calls: [], ids: []});
      } catch (error) {
        await Promise.all([pool.proofs?.destroy(), pool.estimates?.destroy(), pool.longEstimates?.destroy()]);
        throw error;
      }
      return pool;
    } catch (error) {
      await store.discard();
      throw error;
    }
  }

  get suite(): string {
    return this.store.reader.suite.name;
  }

  /** Upper bound of an answer's text per account or slot asked for, in bytes. */
  get maxProofTextBytes(): number {
    return maxProofTextBytes(this.store.reader.suite);
  }

  /** Block 0's, or the one that the pool was opened for; undefined where neither names a chain. */
  get chainId(): bigint | undefined {
    this.chain ??= this.store.reader.readChain();
    return this.chain?.chainId ?? this.expectedChainId;
  }

  /** The newest head that this process has seen; rises with imports. */
  head(): Head {
    return this.currentHead;
  }

  /**
   * @param hash - 32 bytes
   * @returns the block's number, or undefined if no block held has it
   */
  findBlock(hash: Uint8Array): number | undefined {
    return this.store.reader.findBlock(hash);
  }

  readBlock(block: number): BlockSummary | Failure {
    try {
      const {header, stateRoot} = this.store.reader.blockOrThrow(block);
      const {hash, timestamp} = header;
      return {number: block, hash, stateRoot, ...(timestamp === undefined ? {} : {timestamp})};
    } catch (error) {
      return failureOf(error);
    }
  }

  /** Runs on one proof thread. Rejects if that thread dies, and the job's memory with it. */
  prove(job: ProveJob): Promise<Answers> {
    if (this.proofs === undefined)
      return Promise.reject(new Error("the pool was opened without proof threads"));
    return this.proofs.run(job, job.memory === undefined ? {} : {transferList: [job.memory]});
  }

  /** Threads that estimate; 0: none. */
  get estimateWorkers(): number {
    return this.estimateOptions?.workers ?? 0;
  }

  /** Runs on one estimate thread, of those for its kind of job. Rejects if that thread dies, or is stuck and replaced. */
  async estimate(job: EstimateJob): Promise<EstimateAnswers> {
    const pool = job.slice === undefined ? this.longEstimates : this.estimates;
    if (pool === undefined || this.estimateOptions === undefined)
      throw new Error("the pool was opened without estimate threads");
    // The one before it may be of the longest slice.
    const callMs =
      job.slice === undefined ? MAX_STRETCH * this.estimateOptions.settings.timeMs : SLICES.second.clockMs;
    const limitMs = ESTIMATES_PER_THREAD * callMs * job.calls.length + ESTIMATE_GRACE_MS;
    // Not AbortSignal.timeout: its weak references take the main thread a tenth of a short estimate's time.
    const signal = new EventEmitter();
    const timer = setTimeout(() => signal.emit("abort"), limitMs);
    try {
      return await pool.run(job, {signal});
    } finally {
      clearTimeout(timer);
    }
  }

  /** @param onSource - takes what happens to a source that is followed */
  startImport(
    job: Omit<ImportJob, "port">,
    onEvent: (event: ImportEvent) => void,
    onSource: (event: SourceEvent) => void = () => {},
  ): Running<ImportOutcome> {
    if (this.writeFailed) {
      const message = `${WRITE_FAILED_BEFORE}: restart to import`;
      const outcome = {ok: false, head: this.currentHead, blocks: 0, message, writeFailed: true} as const;
      return {outcome: Promise.resolve(outcome), stop: () => {}};
    }
    const unanswered = new Map<number, (answer: FinalizeAnswer | null) => void>();
    const {port1: near, port2: far} = new MessageChannel();
    near.on("message", (message: ImportMessage) => {
      if ("order" in message) {
        unanswered.get(message.order)?.(message);
        unanswered.delete(message.order);
      } else if ("kind" in message) onSource(message);
      else {
        this.currentHead = message.head;
        onEvent(message);
      }
    });
    // The worker closes its end when it is done, or dead: all events are here before the outcome is.
    const allReceived = new Promise<void>(resolve => near.once("close", resolve));
    // Piscina tells of a thread that cannot start by this event only, and keeps the task.
    let onError = (_error: Error): void => {};
    const cannotStart = new Promise<never>((_, reject) => {
      onError = reject;
    });
    this.imports.on("error", onError);
    const finished = this.finality
      .then(() => this.imports.run({...job, port: far}, {transferList: [far]}))
      .then(async outcome => {
        await allReceived;
        this.currentHead = outcome.head;
        if (!outcome.ok && outcome.writeFailed) this.writeFailed = true;
        return outcome;
      });
    const running: Running<ImportOutcome> = {
      outcome: Promise.race([finished, cannotStart]).finally(() => {
        this.imports.off("error", onError);
        near.close();
        this.running.delete(running);
      }),
      stop: () => near.postMessage("stop"),
    };
    this.running.add(running);
    let orders = 0;
    const underWay: ImportUnderWay = {
      ended: running.outcome.then(
        () => {},
        () => {}, // whoever started the import sees it
      ),
      finalize: block =>
        new Promise(resolve => {
          const order: FinalizeOrder = {order: orders++, finalize: block};
          unanswered.set(order.order, resolve);
          near.postMessage(order);
        }),
    };
    this.importing.add(underWay);
    void underWay.ended.then(() => {
      this.importing.delete(underWay);
      for (const resolve of unanswered.values()) resolve(null);
    });
    return running;
  }

  /**
   * Marks blocks up to `block` as finalized, also while an import runs, whose thread then does it. Finality never falls: a
   * lower number than the one that is marked changes nothing.
   *
   * @returns the head as it is then
   * @throws StoreError BLOCK_UNKNOWN if `block` is not held, WRITE_FAILED
   */
  finalize(block: number): Promise<Head> {
    const result = this.finality.then(() => this.finalizeNow(block));
    this.finality = result.catch(() => {}); // the caller sees it
    return result;
  }

  /**
   * Removes the unfinalized blocks above `block`. Not while an import runs.
   *
   * @throws StoreError FINALIZED, BLOCK_UNKNOWN, WRITE_FAILED
   */
  async rollback(block: number): Promise<void> {
    if (this.running.size > 0) throw new Error("an import is under way");
    await this.write("roll back", () => this.store.rollback(block));
    this.currentHead = await readHead(this.store);
  }

  /** Waits for jobs under way, ends the threads, closes the store. */
  async close(): Promise<void> {
    await this.end();
    await this.store.close();
  }

  /** Closes after a failure: a store that was made for this pool, and holds no block, is removed. */
  async discard(): Promise<void> {
    await this.end();
    await this.store.discard();
  }

  private async end(): Promise<void> {
    this.closing = true;
    for (const job of this.running) job.stop();
    await Promise.allSettled([...this.running].map(({outcome}) => outcome));
    await this.finality;
    await this.imports.destroy();
    await Promise.all([this.proofs?.close(), this.estimates?.close(), this.longEstimates?.close()]);
  }

  private async finalizeNow(block: number): Promise<Head> {
    for (const job of this.importing) {
      const answer = await job.finalize(block);
      if (answer === null) await job.ended;
      else if (answer.refusal === null) return this.currentHead;
      else throw new StoreError(answer.refusal.code, answer.refusal.message);
    }
    await this.write("finalize", async () => {
      const writer = await BlockWriter.create(this.store);
      writer.finalizeHeld(block);
      await writer.flush();
    });
    this.currentHead = await readHead(this.store);
    return this.currentHead;
  }

  /** After a write that failed there is no other one: LevelDB could not read it again. @throws StoreError WRITE_FAILED */
  private async write(what: string, perform: () => Promise<void>): Promise<void> {
    if (this.writeFailed) throw new StoreError("WRITE_FAILED", `${WRITE_FAILED_BEFORE}: restart to ${what}`);
    try {
      await perform();
    } catch (error) {
      if (error instanceof StoreError && error.code === "WRITE_FAILED") this.writeFailed = true;
      throw error;
    }
  }

  private watch(pool: Piscina, kind: string, onError: (error: Error) => void): void {
    pool.on("error", onError);
    pool.on("workerDestroy", () => {
      if (!this.closing) onError(new Error(`a thread of the ${kind} pool ended`));
    });
  }
}
