/**
 * Threads that verify the answers of a pull, in runtimes with node:worker_threads (Node, Deno, Bun). This thread then
 * only decodes leaves that are verified. Without threads, as in browsers, or without the file of their code, as in
 * bundles, this thread verifies everything.
 */
import {builtinModule} from "../bytes/runtime.ts";
import type {HashSuite} from "../hash/hashSuites.ts";
import {
  type LeavesRequest,
  type LeavesVerifier,
  readVerifiedLeaves,
  type VerifiedLeaves,
  verifyLeaves,
} from "../leaves/leafRange.ts";
import {ProofError} from "../proof/proofError.ts";
import type {VerifiedAnswer, VerifyJob} from "./leavesWorker.ts";

interface Worker {
  on(event: "message", listener: (message: VerifiedAnswer | "ready") => void): void;
  on(event: "error", listener: (error: unknown) => void): void;
  on(event: "exit", listener: () => void): void;
  postMessage(job: VerifyJob, transfer: readonly ArrayBufferLike[]): void;
  ref(): void;
  unref(): void;
  terminate(): Promise<unknown>;
}

type WorkerClass = new (file: URL, options: {readonly resourceLimits: object}) => Worker;

/** A thread makes short-lived objects alone. With less space for young ones, the process takes 30 MB less. */
const resourceLimits = {maxYoungGenerationSizeMb: 4};
/** A shorter answer is verified here in less time than it takes to send it. */
const MIN_BYTES = 2048;
/** More threads verify faster than one thread reads. */
const MOST_THREADS = 4;

/** @returns one for each other core, up to 4; 0 in runtimes without threads */
export function usefulThreads(): number {
  const cores = builtinModule<{availableParallelism?(): number}>("node:os")?.availableParallelism?.() ?? 1;
  return Math.min(cores - 1, MOST_THREADS);
}

export class VerifierThreads implements LeavesVerifier {
  private readonly threads: VerifierThread[] = [];
  private root: Uint8Array | undefined;
  private isOpen = true;

  /** @param worthLeaves - the threads start once an answer shows that so many leaves of its tree follow */
  constructor(
    private readonly count: number,
    private readonly worthLeaves: number,
  ) {}

  /** All answers of a pull are of one block, so its root is looked up once. */
  async verify(
    suite: HashSuite,
    rootOf: () => Promise<Uint8Array>,
    request: LeavesRequest,
    bytes: Uint8Array,
  ): Promise<VerifiedLeaves> {
    this.root ??= await rootOf();
    const {root} = this;
    const [thread] = this.threads
      .filter(({isReady}) => isReady)
      .sort((a, b) => a.jobs.length - b.jobs.length);
    if (thread !== undefined && bytes.length >= MIN_BYTES) return thread.verify(suite, root, request, bytes);
    const range = verifyLeaves(suite, root, request, bytes);
    if (range.nextFreeNode - range.end >= this.worthLeaves) this.start();
    return {...range, proof: bytes};
  }

  /** Ends the threads. Jobs that they have not finished are rejected. */
  async close(): Promise<void> {
    this.isOpen = false;
    await Promise.all(this.threads.map(({worker}) => worker.terminate()));
  }

  private start(): void {
    const Worker = builtinModule<{readonly Worker: WorkerClass}>("node:worker_threads")?.Worker;
    if (Worker === undefined || !this.isOpen) return;
    while (this.threads.length < this.count)
      this.threads.push(
        new VerifierThread(new Worker(new URL("./leavesWorker.js", import.meta.url), {resourceLimits})),
      );
  }
}

interface PendingJob {
  readonly resolve: (leaves: VerifiedLeaves) => void;
  readonly reject: (error: unknown) => void;
  readonly suite: HashSuite;
  readonly request: LeavesRequest;
}

class VerifierThread {
  isReady = false;
  readonly jobs: PendingJob[] = [];

  constructor(readonly worker: Worker) {
    worker.on("message", message => this.onMessage(message));
    // An error before it is ready means that its file is missing or does not run. Then this thread verifies.
    worker.on("error", error => this.fail(error));
    worker.on("exit", () => this.fail(new Error("a verifier thread has ended")));
    // An idle thread must not keep the process alive.
    worker.unref();
  }

  verify(
    suite: HashSuite,
    root: Uint8Array,
    request: LeavesRequest,
    bytes: Uint8Array,
  ): Promise<VerifiedLeaves> {
    return new Promise((resolve, reject) => {
      // Before the job is queued: memory that cannot be transferred throws, and answers are matched with jobs by their
      // order.
      this.worker.postMessage({suite: suite.name, root, request, bytes}, [bytes.buffer]);
      if (this.jobs.length === 0) this.worker.ref();
      this.jobs.push({resolve, reject, suite, request});
    });
  }

  private onMessage(message: VerifiedAnswer | "ready"): void {
    if (message === "ready") {
      this.isReady = true;
      return;
    }
    const {suite, request, resolve, reject} = this.jobs.shift() as PendingJob;
    if (this.jobs.length === 0) this.worker.unref();
    if ("refused" in message) reject(new ProofError(message.refused.at, message.refused.rule));
    else {
      const {bytes, verified} = message;
      resolve({
        ...verified.range,
        proof: bytes,
        // They take twenty times the memory of their bytes, so they are decoded on demand.
        get leaves() {
          return readVerifiedLeaves(suite, request, bytes, verified.hashes);
        },
      });
    }
  }

  private fail(error: unknown): void {
    this.isReady = false;
    for (const {reject} of this.jobs.splice(0)) reject(error);
  }
}
