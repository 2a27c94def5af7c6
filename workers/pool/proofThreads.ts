/**
 * The threads that prove. Each has one job at a time; the others wait here.
 *
 *   prove -> a free thread's mailbox, an answer memory -> the thread works -> its message -> the next job -> onSettled
 *
 * A thread is one Piscina task that ends with the pool. It starts with its first job, and a dead one is replaced in the same way.
 */
import {MessageChannel} from "node:worker_threads";
import type {AnswerMemories, AnswerMemory} from "../job/answerMemory.ts";
import type {Answers, Settlement} from "../job/answers.ts";
import type {ProofCounts} from "../job/proofCounts.ts";
import type {ProveJob} from "../job/proveJob.ts";
import {type ProofPost, ProveMailbox, type ProveMessage, refuseJob} from "../job/proveMailbox.ts";
import type {WorkerSettings} from "../thread/workerStore.ts";
import {ThreadPool} from "./threadPool.ts";

/**
 * MiB of garbage in a proof thread before it is collected. V8's own choice is 48, most of it long out of the processor's
 * cache. Almost nothing survives a collection, so collecting more often costs no more.
 */
const YOUNG_MB = 12;

/** Answers whose `text` may be in memory that the receiver gives back: TaskText does. */
interface ProvedAnswers extends Answers {
  readonly memory?: AnswerMemory;
}

/** Called once per job, with answers of which only `text` may be read after the call. */
export type OnProved = (settlement: Settlement<ProvedAnswers>) => void;

interface WaitingJob {
  readonly job: ProveJob;
  readonly onSettled: OnProved;
}

/** One thread, and what it does. */
interface Proving {
  readonly mailbox: ProveMailbox;
  /** undefined: it has no job. */
  current: CurrentJob | undefined;
}

interface CurrentJob {
  readonly ends: Uint32Array;
  readonly memory: AnswerMemory | undefined;
  readonly onSettled: OnProved;
}

const NO_FAILURES: Answers["failures"] = [];

export class ProofThreads {
  private readonly pool: ThreadPool<ProofPost, void>;
  private readonly free: Proving[] = [];
  private readonly waiting: WaitingJob[] = [];
  /** Threads that have started and not died. */
  private running = 0;
  private isClosing = false;

  /**
   * @param count - of threads, at least 1
   * @param complete - adds to failures what the threads do not know
   */
  constructor(
    private readonly count: number,
    private readonly memories: AnswerMemories,
    private readonly counts: ProofCounts,
    private readonly complete: (failures: Answers["failures"]) => Answers["failures"],
    workerData: WorkerSettings,
    onExit: (error: Error) => void,
  ) {
    const options = {
      filename: new URL("../prove/proofWorker.js", import.meta.url).href,
      minThreads: count,
      maxThreads: count,
      resourceLimits: {maxYoungGenerationSizeMb: YOUNG_MB},
      workerData,
    };
    this.pool = new ThreadPool("proof", options, onExit);
  }

  /** Rejects with the reason if a thread cannot start. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.prove({calls: new Uint8Array(0), ids: []}, settlement => {
        if ("error" in settlement) return reject(settlement.error);
        settlement.answers.memory?.release();
        resolve();
      });
    });
  }

  /** Runs on one thread. Ends with an error if that thread dies, or if the job is too large. */
  prove(job: ProveJob, onSettled: OnProved): void {
    const error = refuseJob(job);
    if (error !== undefined) {
      onSettled({error});
      return;
    }
    const thread = this.free.pop() ?? (this.running < this.count ? this.startThread() : undefined);
    if (thread === undefined) this.waiting.push({job, onSettled});
    else this.begin(thread, job, onSettled);
  }

  /** Waits for all jobs. */
  async close(): Promise<void> {
    this.isClosing = true;
    for (const {mailbox} of this.free.splice(0)) mailbox.stop();
    await this.pool.close();
  }

  /** Ends the threads at once, also in the middle of a job. */
  async destroy(): Promise<void> {
    this.isClosing = true;
    await this.pool.destroy();
  }

  private startThread(): Proving {
    const thread: Proving = {mailbox: new ProveMailbox(), current: undefined};
    const {port1, port2} = new MessageChannel();
    port1.on("message", (message: ProveMessage) => this.settle(thread, message));
    this.running++;
    this.pool
      .run(
        {
          mailbox: thread.mailbox.shared,
          memories: this.memories.shared,
          counts: this.counts.shared,
          port: port2,
        },
        {transferList: [port2]},
      )
      .catch((error: unknown) => this.lose(thread, error))
      .finally(() => port1.close());
    return thread;
  }

  private begin(thread: Proving, job: ProveJob, onSettled: OnProved): void {
    const memory = this.memories.take();
    thread.current = {ends: thread.mailbox.put(job, memory?.number), memory, onSettled};
  }

  /** Takes over a job that is done. The thread begins the next one before this one's answers are sent. */
  private settle(thread: Proving, message: ProveMessage): void {
    const {current} = thread;
    // The thread has died since, and its job has ended with an error.
    if (current === undefined) return;
    thread.current = undefined;
    const next = this.waiting.shift();
    if (next !== undefined) this.begin(thread, next.job, next.onSettled);
    else if (this.isClosing) thread.mailbox.stop();
    else this.free.push(thread);
    current.onSettled(this.readSettlement(current, message));
  }

  private lose(thread: Proving, error: unknown): void {
    this.running--;
    const at = this.free.indexOf(thread);
    if (at !== -1) this.free.splice(at, 1);
    const {current} = thread;
    thread.current = undefined;
    current?.memory?.release();
    current?.onSettled({error});
    const waiting = this.waiting.splice(0);
    for (const {job, onSettled} of waiting)
      if (this.isClosing) onSettled({error});
      else this.prove(job, onSettled);
  }

  private readSettlement({ends, memory}: CurrentJob, message: ProveMessage): Settlement<ProvedAnswers> {
    if (message !== undefined && "error" in message) {
      memory?.release();
      return message;
    }
    const failures = message === undefined ? NO_FAILURES : this.complete(message.failures);
    const text = message?.text;
    if (text === undefined && memory !== undefined)
      return {answers: {text: memory.bytes, ends, failures, memory}};
    memory?.release();
    return {answers: {text: text as Uint8Array, ends, failures}};
  }
}
