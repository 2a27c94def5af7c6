/**
 * Threads that answer packed calls: proofs, or estimates with a slice. Each has a short job and a long one at a time; the
 * others wait here.
 *
 *   run -> a thread's free place, an answer memory -> the thread works -> its message -> the next job -> onSettled
 *
 * A thread works on one Piscina task from its start to its end. Jobs wait for a thread that starts; while all are down,
 * they end with an error at once.
 */
import {MessageChannel} from "node:worker_threads";
import type {AnswerMemories, AnswerMemory} from "../messages/answerMemory.ts";
import type {Answers, Settlement} from "../messages/answers.ts";
import {
  JOB_PLACES,
  JobMailbox,
  type JobMessage,
  JobPlace,
  type JobPost,
  type PackedJob,
  refuseJob,
} from "../messages/jobMailbox.ts";
import {
  type RunOptions,
  SupervisedThread,
  type ThreadLost,
  type ThreadSettings,
  ThreadsDown,
} from "./supervisor.ts";

/** Answers whose `text` may be in memory that the receiver gives back: TaskText does. */
interface LentAnswers extends Answers {
  readonly memory?: AnswerMemory;
}

/** Called once per job, with answers of which only `text` may be read after the call. */
export type OnAnswered = (settlement: Settlement<LentAnswers>) => void;

/** What the engine's kinds of threads share. */
export interface JobOptions {
  readonly memories: AnswerMemories;
  /** Adds to failures what the threads do not know. */
  readonly complete: (failures: Answers["failures"]) => Answers["failures"];
  /** Called each time that a thread died, hung or could not start. */
  readonly onLost: (error: ThreadLost) => void;
}

interface WaitingJob {
  readonly job: PackedJob;
  readonly onSettled: OnAnswered;
}

interface Working {
  readonly mailbox: JobMailbox;
  /** By place. undefined: it has no job there. */
  readonly current: [CurrentJob | undefined, CurrentJob | undefined];
  /** Jobs that it has answered, with its first one, which tells that it is up. */
  answered: number;
}

interface CurrentJob {
  readonly ends: Uint32Array;
  readonly memory: AnswerMemory | undefined;
  readonly onSettled: OnAnswered;
}

const ALL_ANSWERED: Omit<Answers, "ends" | "text"> & {readonly text?: undefined} = {failures: []};

const NO_CALLS: PackedJob = {calls: new Uint8Array(0), ids: []};

export class JobThreads {
  readonly threads: readonly SupervisedThread<JobPost, void>[];
  /** Those that are up. */
  private readonly up: Working[] = [];
  /** By place: jobs for which no thread has room. */
  private readonly waiting: readonly [WaitingJob[], WaitingJob[]] = [[], []];
  private isClosing = false;

  /** @param thread - its limitMs: a thread that has jobs and has answered none for so long hangs */
  constructor(
    count: number,
    private readonly thread: Omit<ThreadSettings<JobPost, void>, "begin">,
    private readonly options: JobOptions,
  ) {
    const settings: ThreadSettings<JobPost, void> = {...thread, begin: run => this.beginThread(run)};
    this.threads = Array.from({length: count}, () => new SupervisedThread(settings, options.onLost));
  }

  async start(): Promise<void> {
    await Promise.all(this.threads.map(thread => thread.start()));
  }

  /** Runs on one thread. Ends with an error if that thread dies, if all are down, or if the job is too large. */
  run(job: PackedJob, onSettled: OnAnswered): void {
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
  private findFree(place: JobPlace): Working | undefined {
    let free: Working | undefined;
    for (const thread of this.up) {
      if (isIdle(thread.current)) return thread;
      if (thread.current[place] === undefined) free ??= thread;
    }
    return free;
  }

  /** @returns undefined if some thread works or starts */
  private findOutage(): ThreadsDown | undefined {
    if (this.threads.some(({state}) => state === "up" || state === "starting")) return undefined;
    return new ThreadsDown(`no ${this.thread.kind} thread is up: ${this.threads[0]?.reason}`);
  }

  /** Resolves when the thread has answered a job without calls. */
  private beginThread(run: (post: JobPost, options: RunOptions) => Promise<void>): Promise<void> {
    const thread: Working = {mailbox: new JobMailbox(), current: [undefined, undefined], answered: 0};
    const {port1, port2} = new MessageChannel();
    port1.on("message", (message: JobMessage) => this.settle(thread, message));
    const post: JobPost = {
      mailbox: thread.mailbox.shared,
      memories: this.options.memories.shared,
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

  private begin(thread: Working, job: PackedJob, onSettled: OnAnswered): void {
    const memory = this.options.memories.take();
    thread.current[placeOf(job)] = {ends: thread.mailbox.put(job, memory?.number), memory, onSettled};
  }

  private beginWaiting(thread: Working): void {
    for (const place of JOB_PLACES) {
      const next = thread.current[place] === undefined ? this.waiting[place].shift() : undefined;
      if (next !== undefined) this.begin(thread, next.job, next.onSettled);
    }
  }

  /** Takes over a job that is done. The thread begins the next one before this one's answers are sent. */
  private settle(thread: Working, message: JobMessage): void {
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

  private lose(thread: Working, error: unknown): void {
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

  private readSettlement({ends, memory}: CurrentJob, message: JobMessage): Settlement<LentAnswers> {
    if (typeof message === "object" && "error" in message) {
      memory?.release();
      return {error: message.error};
    }
    const told = typeof message === "number" ? ALL_ANSWERED : message;
    const {text, unfinished, begun} = told;
    const answers = {ends, failures: this.options.complete(told.failures), unfinished, begun};
    if (text === undefined && memory !== undefined)
      return {answers: {...answers, text: memory.bytes, memory}};
    memory?.release();
    return {answers: {...answers, text: text as Uint8Array}};
  }
}

function placeOf({isLong}: PackedJob): JobPlace {
  return isLong === true ? JobPlace.LONG : JobPlace.SHORT;
}

function isIdle([short, long]: Working["current"]): boolean {
  return short === undefined && long === undefined;
}
