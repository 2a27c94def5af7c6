/**
 * An open store, and the threads that work on it:
 *
 *   main thread          proof threads (N)   estimate threads (M)   long estimates (M/2)   import thread (1, only while
 *   ChainView, commands      prove               a slice each           to their end           it has a job)
 *        |                     |                   |                     |                     |
 *        +---------------------+-------------------+---------------------+--- one LevelDB, multithreading: true
 *
 * Each kind has threads of its own (threads/supervisor.ts). So neither the hashing of a block nor a simulation, which
 * may last seconds, takes a proof thread away, and a long simulation takes no thread from the short ones.
 */
import {checkChainId} from "../storage/block/format.ts";
import {sha256Suite} from "../storage/hash/sha256Suite.ts";
import {PrunedBlocks} from "../storage/prune/prunedBlocks.ts";
import {createRetention, type History} from "../storage/prune/retention.ts";
import {StateStore} from "../storage/stateStore.ts";
import {ChainView} from "./chain/chainView.ts";
import {ChainWrites} from "./chain/chainWrites.ts";
import type {ImportThread} from "./chain/importSession.ts";
import {Pruner, type PrunerOptions} from "./chain/pruner.ts";
import {AnswerMemories} from "./messages/answerMemory.ts";
import type {Answers} from "./messages/answers.ts";
import type {EstimateSettings} from "./messages/estimateSettings.ts";
import type {Head} from "./messages/head.ts";
import type {ImportEvent, ImportJob, ImportOutcome} from "./messages/importJob.ts";
import type {SourceEvent} from "./messages/importSource.ts";
import {JOB_PLACES, type PackedJob} from "./messages/jobMailbox.ts";
import {ProofCounts} from "./messages/proofCounts.ts";
import type {WatchedThread} from "./messages/watchedThread.ts";
import {maxProofTextBytes} from "./prove/proofText.ts";
import {EstimateThreads} from "./threads/estimateThreads.ts";
import {type JobOptions, JobThreads, type OnAnswered} from "./threads/jobThreads.ts";
import type {Running} from "./threads/running.ts";
import {readHead} from "./threads/storedHead.ts";
import {SupervisedThread} from "./threads/supervisor.ts";

export interface EngineOptions {
  readonly directory: string;
  /** Proof threads, at least 1. 0 = none (import only). */
  readonly workers: number;
  /** Bytes of pages that each worker may keep. */
  readonly cacheBytes: number;
  /** Allows to make a store in an empty or missing directory. */
  readonly createIfMissing: boolean;
  /** For a store that this process has open already. Changes nothing, not even what a crash left. */
  readonly readOnly?: boolean;
  /** The suite of a store that is made. A store with another suite is refused. */
  readonly suite?: string | undefined;
  /** Refuses a store of another chain. */
  readonly chainId?: bigint | undefined;
  /** What each imported block changed is kept with it, for a feed. */
  readonly keepsChanges?: boolean;
  /** Without it there are no gas estimates. */
  readonly estimates?: EstimateOptions | undefined;
  /** Which blocks are pruned, and when. Without it none is. */
  readonly pruning?: Omit<PrunerOptions, "retention"> & {readonly history: History};
  /** A proof or import thread without a sign of life for so long is replaced. undefined: it may take any time. */
  readonly hangMs?: number;
  /** Called when a worker died or hung. Its calls fail, and it is replaced. */
  readonly onWorkerExit?: (error: Error) => void;
  /** Gets the reason when the disk refuses a write, and undefined when the disk takes writes again. */
  readonly onWriting?: (stopped: string | undefined) => void;
  /** Called if the store cannot be opened again after a refused write. It is closed, and the process has to end. */
  readonly onLost?: (error: Error) => void;
}

export interface EstimateOptions {
  /** Threads for jobs with a slice, at least 1. For long estimates: `countLongThreads`. */
  readonly workers: number;
  readonly settings: EstimateSettings;
}

/** The main thread reads no pages. */
const MAIN_CACHE_BYTES = 0;
/**
 * MiB of garbage before it is collected, in proof threads and in the import thread. V8's own 48 are mostly out of the
 * processor's cache, and little survives (docs/sizing.md).
 */
const YOUNG_MB = 12;
/** The import thread ends when it has had nothing to do for this long. That frees the EVM's memory. */
const IMPORT_IDLE_MS = 10_000;
/** The import thread has this part of a proof thread's cache: a block of random accounts costs no more. */
const IMPORT_PART = 2;

export class Engine {
  readonly workers: number;
  readonly chain: ChainView;
  /** undefined: nothing is pruned. */
  readonly pruner: Pruner | undefined;
  readonly memories: AnswerMemories;
  readonly proofCounts = new ProofCounts();
  private proofs: JobThreads | undefined;
  private estimates: EstimateThreads | undefined;
  private readonly imports: ImportThread;
  /** Works while an import runs too. */
  readonly writes: ChainWrites;
  /** Settles when the store is open again, or cannot be; undefined: it is open. */
  private reopening: Promise<void> | undefined;

  private constructor(
    /** Its reader is for what needs no page. */
    readonly store: StateStore,
    head: Head,
    pruned: PrunedBlocks,
    private readonly options: EngineOptions,
  ) {
    const {workers, directory, cacheBytes, chainId, pruning, hangMs} = options;
    const onExit = (error: Error): void => options.onWorkerExit?.(error);
    this.workers = workers;
    this.memories = new AnswerMemories(JOB_PLACES.length * workers + (options.estimates?.workers ?? 0));
    this.chain = new ChainView(store.reader, head, pruned, chainId);
    this.imports = new SupervisedThread(
      {
        kind: "import",
        module: new URL("./import/importWorker.js", import.meta.url),
        workerData: {directory, cacheBytes: cacheBytes / IMPORT_PART},
        ...{idleMs: IMPORT_IDLE_MS, limitMs: hangMs, isWriter: true},
        resourceLimits: {maxYoungGenerationSizeMb: YOUNG_MB},
        // While an import waits for its source, the thread must not sleep in Atomics.wait.
        atomics: "disabled",
        // Else a thread that ends would close descriptors that a socket has closed already (nodes/files/inputFile.ts).
        trackUnmanagedFds: false,
      },
      onExit,
    );
    this.writes = new ChainWrites(
      store,
      this.chain,
      this.imports,
      () => this.reopen(),
      stopped => options.onWriting?.(stopped),
    );
    if (pruning === undefined) return;
    const {finalizations} = store.reader;
    const retention = createRetention(pruning.history, {
      from: block => finalizations.covering(block)?.endBlock,
      last: () => finalizations.last()?.endBlock,
    });
    this.pruner = new Pruner(store, this.chain, this.writes, {...pruning, retention}, onExit);
  }

  /** @throws StoreError (see storage/errors.ts; `code` and `message` are for the operator) */
  static async open(options: EngineOptions): Promise<Engine> {
    const {directory, createIfMissing, chainId, suite} = options;
    const store = await StateStore.open({
      directory,
      createIfMissing,
      suite,
      role: options.readOnly === true ? "sharer" : "owner",
      cacheBytes: MAIN_CACHE_BYTES,
    });
    try {
      checkChainId(store.reader.readChain(), chainId);
      const head = await readHead(store);
      const engine = new Engine(store, head, await PrunedBlocks.read(store.reader), options);
      await engine.startThreads();
      engine.pruner?.start();
      return engine;
    } catch (error) {
      await store.discard();
      throw error;
    }
  }

  readThreads(): readonly WatchedThread[] {
    const {proofs, estimates, imports, pruner} = this;
    return [
      ...(proofs?.threads ?? []),
      ...(estimates?.threads ?? []),
      imports,
      ...(pruner === undefined ? [] : [pruner.thread]),
    ];
  }

  /** Upper bound of an answer's text per account or slot asked for, in bytes. */
  get maxProofTextBytes(): number {
    const {reader} = this.store;
    // A path of a trie has fewer digits than one of a sparse tree.
    return maxProofTextBytes(reader.hasTrees ? reader.suite : sha256Suite);
  }

  /** Runs on one proof thread. Ends with an error if that thread dies, or if the job is too large. */
  prove(job: PackedJob, onAnswered: OnAnswered): void {
    this.run("proofs", job, onAnswered);
  }

  /** Runs on an estimate thread for its kind of job. Ends with an error if that thread dies, or is stuck and replaced. */
  estimate(job: PackedJob, onAnswered: OnAnswered): void {
    this.run("estimates", job, onAnswered);
  }

  /** @param onSource - called with what happens to a followed source */
  startImport(
    job: Omit<ImportJob, "port" | "keepsChanges">,
    onEvent: (event: ImportEvent) => void,
    onSource: (event: SourceEvent) => void = () => {},
  ): Running<ImportOutcome> {
    const {keepsChanges = false} = this.options;
    return this.writes.startImport({...job, keepsChanges}, {onEvent, onSource});
  }

  /** Waits for running jobs. @param onWait - gets the name of what is waited for, before each wait */
  async close(onWait: (what: string) => void = () => {}): Promise<void> {
    await this.end(onWait);
    onWait("the store");
    await this.store.close();
  }

  /** Closes after a failure. Removes the store if it was made for this engine and holds no block. */
  async discard(): Promise<void> {
    await this.end(() => {});
    await this.store.discard();
  }

  /**
   * Opens the store again after a refused write. Every thread has LevelDB open, so all end and others start. Calls wait
   * meanwhile, proofs as briefly as possible.
   */
  private reopen(): Promise<void> {
    const reopen = async (): Promise<void> => {
      const {proofs, estimates} = this;
      await this.pruner?.rest();
      this.estimates = undefined;
      await estimates?.close();
      this.proofs = undefined;
      await proofs?.close();
      await this.store.reopen();
      await this.startThreads();
      this.pruner?.resume();
    };
    this.reopening = reopen()
      .catch((error: Error) => {
        this.options.onLost?.(error);
        throw error;
      })
      .finally(() => {
        this.reopening = undefined;
      });
    return this.reopening;
  }

  /** Rejects with the reason if a thread cannot start. */
  private async startThreads(): Promise<void> {
    const {workers, directory, cacheBytes, chainId, estimates, hangMs} = this.options;
    const settings = {directory, cacheBytes};
    const jobs: JobOptions = {
      memories: this.memories,
      complete: failures => this.withNearest(failures),
      onLost: error => this.options.onWorkerExit?.(error),
    };
    if (workers > 0) {
      const proofs = {
        kind: "proof",
        limitMs: hangMs,
        module: new URL("./prove/proofWorker.js", import.meta.url),
        resourceLimits: {maxYoungGenerationSizeMb: YOUNG_MB},
        workerData: {...settings, counts: this.proofCounts.shared},
      };
      this.proofs = new JobThreads(workers, proofs, jobs);
    }
    if (estimates !== undefined)
      this.estimates = new EstimateThreads(
        estimates.workers,
        {...settings, settings: estimates.settings, chainId},
        jobs,
      );
    try {
      await this.proofs?.start();
      await this.estimates?.start();
    } catch (error) {
      await Promise.all([this.proofs?.destroy(), this.estimates?.destroy()]);
      throw error;
    }
  }

  private run(kind: "proofs" | "estimates", job: PackedJob, onAnswered: OnAnswered): void {
    const threads = this[kind];
    if (threads !== undefined) threads.run(job, onAnswered);
    else if (this.reopening === undefined) onAnswered({error: new Error(`there are no threads for ${kind}`)});
    else
      this.reopening.then(
        () => this.run(kind, job, onAnswered),
        (error: unknown) => onAnswered({error}),
      );
  }

  /** Adds what only the main thread knows to failures at pruned blocks. */
  private withNearest(failures: Answers["failures"]): Answers["failures"] {
    if (failures.length === 0) return failures;
    return failures.map(failure => this.chain.withNearest(failure));
  }

  private async end(onWait: (what: string) => void): Promise<void> {
    onWait("pruning");
    await this.pruner?.stop();
    onWait("the import");
    await this.writes.end();
    await this.imports.close();
    onWait("proof and estimate threads");
    await Promise.all([this.proofs?.close(), this.estimates?.close()]);
  }
}
