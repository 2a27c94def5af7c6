/**
 * The threads that prove. Each has a short job and a long one at a time; the others wait here.
 *
 *   prove -> a thread's free place, an answer memory -> the thread works -> its message -> the next job -> onSettled
 *
 * A thread works on one Piscina task from its start to its end. Jobs wait for a thread that starts; while all are down,
 * they end with an error at once.
 */
import {MessageChannel} from "node:worker_threads";
import type {AnswerMemories, AnswerMemory} from "../messages/answerMemory.ts";
import type {Answers, Settlement} from "../messages/answers.ts";
import type {ProofCounts} from "../messages/proofCounts.ts";
import {
  JOB_PLACES,
  JobPlace,
  type ProofPost,
  type ProveJob,
  ProveMailbox,
  type ProveMessage,
  refuseJob,
} from "../messages/proveMailbox.ts";
import {
  type RunOptions,
  SupervisedThread,
  type ThreadLost,
  type ThreadSettings,
  ThreadsDown,
} from "./supervisor.ts";
import type {WorkerSettings} from "./workerStore.ts";

/** MiB of garbage before it is collected. V8's own 48 are mostly out of the processor's cache, and little survives. */
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

interface Proving {
  readonly mailbox: ProveMailbox;
  /** By place. undefined: it has no job there. */
  readonly current: [CurrentJob | undefined, CurrentJob | undefined];
  /** Jobs that it has answered, with its first one, which tells that it is up. */
  answered: number;
}

interface CurrentJob {
  readonly ends: Uint32Array;
  readonly memory: AnswerMemory | undefined;
  readonly onSettled: OnProved;
}

const NO_FAILURES: Answers["failures"] = [];

const NO_CALLS: ProveJob = {calls: new Uint8Array(0), ids: []};

export class ProofThreads {
  readonly threads: readonly SupervisedThread<ProofPost, void>[];
  /** Those that are up. */
  private readonly up: Proving[] = [];
  /** By place: jobs for which no thread has room. */
  private readonly waiting: readonly [WaitingJob[], WaitingJob[]] = [[], []];
  private isClosing = false;

  /**
   * @param complete - adds to failures what the threads do not know
   * @param onLost - called each time that a thread died, hung or could not start
   * @param limitMs - a thread that has jobs and has answered none for so long hangs. undefined: it may take any time
   */
  constructor(
    count: number,
    private readonly memories: AnswerMemories,
    private readonly counts: ProofCounts,
    private readonly complete: (failures: Answers["failures"]) => Answers["failures"],
    workerData: WorkerSettings,
    onLost: (error: ThreadLost) => void,
    limitMs?: number,
  ) {
    const settings: ThreadSettings<ProofPost, void> = {
      kind: "proof",
      limitMs,
      module: new URL("../prove/proofWorker.js", import.meta.url),
      resourceLimits: {maxYoungGenerationSizeMb: YOUNG_MB},
      workerData,
      begin: run => this.beginThread(run),
    };
    this.threads = Array.from({length: count}, () => new SupervisedThread(settings, onLost));
  }

  async start(): Promise<void> {
    await Promise.all(this.threads.map(thread => thread.start()));
  }

  /** Runs on one thread. Ends with an error if that thread dies, if all are down, or if the job is too large. */
  prove(job: ProveJob, onSettled: OnProved): void {
    const error = refuseJob(job) ?? this.findOutage();
    if (error !== undefined) {
      onSettled({error});
      return;
    }
    const place = placeOf(job);
    const thread = this.findFree(place);
    if (thread === undefined) this.waiting[place].push({job, onSettled});
    else this.begin(thread, job, onSettled);
  }

  /** Waits for all jobs. */
  async close(): Promise<void> {
    this.isClosing = true;
    for (const {mailbox, current} of this.up) if (isIdle(current)) mailbox.stop();
    await Promise.all(this.threads.map(thread => thread.close()));
  }

  /** Ends the threads at once, also in the middle of a job. */
  async destroy(): Promise<void> {
    this.isClosing = true;
    await Promise.all(this.threads.map(thread => thread.destroy()));
  }

  /** @returns a thread with room in this place: the first one that has no job at all, else the first one */
  private findFree(place: JobPlace): Proving | undefined {
    let free: Proving | undefined;
    for (const thread of this.up) {
      if (isIdle(thread.current)) return thread;
      if (thread.current[place] === undefined) free ??= thread;
    }
    return free;
  }

  /** @returns undefined if some thread works or starts */
  private findOutage(): ThreadsDown | undefined {
    if (this.threads.some(({state}) => state === "up" || state === "starting")) return undefined;
    return new ThreadsDown(`no proof thread is up: ${this.threads[0]?.reason}`);
  }

  /** Resolves when the thread has answered a job without calls. */
  private beginThread(run: (post: ProofPost, options: RunOptions) => Promise<void>): Promise<void> {
    const thread: Proving = {mailbox: new ProveMailbox(), current: [undefined, undefined], answered: 0};
    const {port1, port2} = new MessageChannel();
    port1.on("message", (message: ProveMessage) => this.settle(thread, message));
    const post: ProofPost = {
      mailbox: thread.mailbox.shared,
      memories: this.memories.shared,
      counts: this.counts.shared,
      port: port2,
    };
    const pulse = () => (thread.answered === 0 || isIdle(thread.current) ? undefined : thread.answered);
    run(post, {transferList: [port2], pulse})
      .catch((error: unknown) => this.lose(thread, error))
      .finally(() => port1.close());
    return new Promise((resolve, reject) => {
      this.begin(thread, NO_CALLS, settlement => {
        if ("error" in settlement) return reject(settlement.error);
        settlement.answers.memory?.release();
        this.up.push(thread);
        this.beginWaiting(thread);
        resolve();
      });
    });
  }

  private begin(thread: Proving, job: ProveJob, onSettled: OnProved): void {
    const memory = this.memories.take();
    thread.current[placeOf(job)] = {ends: thread.mailbox.put(job, memory?.number), memory, onSettled};
  }

  private beginWaiting(thread: Proving): void {
    for (const place of JOB_PLACES) {
      const next = thread.current[place] === undefined ? this.waiting[place].shift() : undefined;
      if (next !== undefined) this.begin(thread, next.job, next.onSettled);
    }
  }

  /** Takes over a job that is done. The thread begins the next one before this one's answers are sent. */
  private settle(thread: Proving, message: ProveMessage): void {
    const place = typeof message === "number" ? message : message.place;
    const current = thread.current[place];
    // The thread has died since, and its job has ended with an error.
    if (current === undefined) return;
    thread.current[place] = undefined;
    thread.answered++;
    this.beginWaiting(thread);
    if (this.isClosing && isIdle(thread.current)) thread.mailbox.stop();
    current.onSettled(this.readSettlement(current, message));
  }

  private lose(thread: Proving, error: unknown): void {
    const at = this.up.indexOf(thread);
    if (at !== -1) this.up.splice(at, 1);
    for (const place of JOB_PLACES) {
      const current = thread.current[place];
      thread.current[place] = undefined;
      current?.memory?.release();
      current?.onSettled({error});
    }
    const outage = this.findOutage();
    if (!this.isClosing && outage === undefined) return;
    for (const jobs of this.waiting)
      for (const {onSettled} of jobs.splice(0)) onSettled({error: outage ?? error});
  }

  private readSettlement({ends, memory}: CurrentJob, message: ProveMessage): Settlement<ProvedAnswers> {
    if (typeof message === "object" && "error" in message) {
      memory?.release();
      return {error: message.error};
    }
    const isPlain = typeof message === "number";
    const failures = isPlain ? NO_FAILURES : this.complete(message.failures);
    const text = isPlain ? undefined : message.text;
    if (text === undefined && memory !== undefined)
      return {answers: {text: memory.bytes, ends, failures, memory}};
    memory?.release();
    return {answers: {text: text as Uint8Array, ends, failures}};
  }
}

function placeOf({isLong}: ProveJob): JobPlace {
  return isLong === true ? JobPlace.LONG : JobPlace.SHORT;
}

function isIdle([short, long]: Proving["current"]): boolean {
  return short === undefined && long === undefined;
}
