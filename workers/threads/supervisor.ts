/**
 * One thread: started, watched, replaced and reported.
 *
 *   off -- start(), or its first job --> starting -- its first work is done --> up
 *    ^                                    |   ^                                |
 *    '--- idle for `idleMs` ------ up   dies  '------ after a pause ------ dies
 *                                         '--> down <--'
 *
 * A thread that dies ends its jobs with an error at once. It is started again: the first time at once, then after
 * pauses that grow from 0.1 to 30 s. From the first pause until it is up it is down, and jobs end with an error at
 * once. A thread that was up for 10 s, or ended because it was idle, begins with no pause again. One that starts with a
 * job is down in the pauses only.
 *
 * A thread that hangs is lost too, and down until another one is up. It is terminated, but ends only when the system
 * call returns that it waits for. Until then it keeps its memory, so only one is left behind for each that runs. One
 * that writes is never left behind.
 *
 * The thread is a Piscina pool of one: Piscina hands over jobs, and rejects those of a thread that dies. But it starts
 * a thread that cannot start again and again, or never, and keeps its jobs waiting. So a pool that has lost its thread
 * is destroyed.
 */
import {Piscina} from "piscina";
import type {WatchedThread} from "../messages/watchedThread.ts";

type PoolOptions = NonNullable<ConstructorParameters<typeof Piscina>[0]>;

export interface RunOptions extends NonNullable<Parameters<Piscina["run"]>[1]> {
  /** A job that takes longer has stuck the thread: it is lost, with all its jobs. */
  readonly limitMs?: number;
  /** A job that may take any time is stuck if this stays the same for `limitMs`. undefined: it has nothing to do. */
  readonly pulse?: () => number | undefined;
}

type Run<Job, Result> = (job: Job, options?: RunOptions) => Promise<Result>;

export interface ThreadSettings<Job, Result>
  extends Pick<
    PoolOptions,
    "workerData" | "resourceLimits" | "atomics" | "trackUnmanagedFds" | "concurrentTasksPerWorker"
  > {
  /** "proof" and the like: for messages and metrics. */
  readonly kind: string;
  readonly module: URL;
  /** The thread ends when it has had nothing to do for this long. Default: it stays. */
  readonly idleMs?: number;
  /** Default of RunOptions. */
  readonly limitMs?: number | undefined;
  /** It writes: while one that was lost has not ended, its jobs go on, and no other starts. */
  readonly isWriter?: boolean;
  /** First work of each new thread; it is up after it. Default: it starts with its first job, and is up once loaded. */
  readonly begin?: (run: Run<Job, Result>) => Promise<unknown>;
}

/** The thread died, or could not start. */
export class ThreadLost extends Error {
  override readonly name = "ThreadLost";
}

/** No thread is up for the job, and nothing of it ran. It can be tried again. */
export class ThreadsDown extends ThreadLost {}

/** A pool that has had one thread at most. */
interface Instance<Job, Result> {
  readonly pool: Piscina<Job, Result>;
  upSinceMs: number | undefined;
  /** Why it ended, as soon as somebody has said so. */
  reason: string | undefined;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 30_000;
const STABLE_MS = 10_000;
/** Time for a thread to load its modules and open the store: 0.3 s, or several seconds on a busy machine. */
const START_MS = 60_000;
/** How often a pulse is felt within its limit. While this process sleeps, no time passes. */
const BEATS = 10;
/** `failures` of a thread that hung, at least: it is down. */
const HUNG = 2;

export class SupervisedThread<Job, Result> implements WatchedThread {
  /** Jobs that it works on, and that wait for it. */
  jobs = 0;
  private instance: Instance<Job, Result> | undefined;
  /** Threads in a row that ended early. */
  private failures = 0;
  reason = "";
  /** Threads that were ended and are still there. */
  private readonly leaving = new Set<Promise<void>>();
  private restart: NodeJS.Timeout | undefined;
  private isClosed = false;

  /** @param onLost - called each time that it died or could not start */
  constructor(
    private readonly settings: ThreadSettings<Job, Result>,
    private readonly onLost: (error: ThreadLost) => void,
  ) {}

  get kind(): string {
    return this.settings.kind;
  }

  get state(): WatchedThread["state"] {
    const {instance} = this;
    if (instance?.upSinceMs !== undefined) return "up";
    const isTriedAgain = instance !== undefined && this.settings.begin !== undefined && this.failures > 1;
    if (this.restart !== undefined || isTriedAgain) return "down";
    return instance === undefined ? "off" : "starting";
  }

  /** Rejects with ThreadLost if it cannot start, or what its first work throws. Unless it is closed, it tries again. */
  async start(): Promise<void> {
    const instance = this.createInstance();
    const timer = setTimeout(
      () => this.lose(instance, `it did not start within ${START_MS} ms`, HUNG),
      START_MS,
    );
    try {
      await this.settings.begin?.((job, options) => this.runIn(instance, job, options));
    } catch (error) {
      this.lose(instance, (error as Error).message);
      throw error;
    } finally {
      clearTimeout(timer);
    }
    this.noteUp(instance);
  }

  /** Rejects if the thread dies, with ThreadLost; at once if it is down or closed. Otherwise as the job's work ends. */
  async run(job: Job, options?: RunOptions): Promise<Result> {
    if (this.isClosed) throw new ThreadLost(`the ${this.kind} thread is closed`);
    if (this.state === "down") throw new ThreadsDown(`the ${this.kind} thread is down: ${this.reason}`);
    return this.runIn(this.instance ?? this.createInstance(), job, options);
  }

  /** Waits for its jobs. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.end()?.close();
    await Promise.all(this.leaving);
  }

  /** Ends it at once, also in the middle of a job. */
  async destroy(): Promise<void> {
    this.isClosed = true;
    await this.rest();
  }

  /** As `destroy`, but it starts again with `start`, or with its next job. */
  async rest(): Promise<void> {
    this.failures = 0;
    await this.end()?.destroy();
    await Promise.all(this.leaving);
  }

  private end(): Piscina<Job, Result> | undefined {
    clearTimeout(this.restart);
    this.restart = undefined;
    const {instance} = this;
    this.instance = undefined;
    return instance?.pool;
  }

  private createInstance(): Instance<Job, Result> {
    const {kind: _kind, begin, module, idleMs = Number.POSITIVE_INFINITY, ...options} = this.settings;
    // Its thread comes with the first job. With a least number of threads, Piscina would replace one that is lost.
    const pool = new Piscina<Job, Result>({
      ...options,
      filename: module.href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: idleMs,
      recordTiming: false,
    });
    const instance = {pool, upSinceMs: undefined, reason: undefined};
    // It has loaded its module. A job may last as long as the process, so its answer would tell too late.
    if (begin === undefined) pool.on("workerCreate", () => this.noteUp(instance));
    pool.on("error", (error: Error) => this.lose(instance, error.message));
    pool.on("workerDestroy", () => this.noteEnd(instance));
    this.instance = instance;
    return instance;
  }

  private async runIn(instance: Instance<Job, Result>, job: Job, options?: RunOptions): Promise<Result> {
    this.jobs++;
    const timer = this.watch(instance, options);
    try {
      return await instance.pool.run(job, options);
    } catch (error) {
      if (this.instance === instance || this.isClosed) throw error;
      // The job that ran when the thread died knows why. Of jobs that waited, Piscina says only that they were ended.
      instance.reason ??= (error as Error).message;
      if (this.settings.isWriter === true) await Promise.all(this.leaving);
      throw new ThreadLost(`the ${this.kind} thread was lost: ${instance.reason}`, {cause: error});
    } finally {
      clearTimeout(timer);
      this.jobs--;
    }
  }

  /** @returns the timer of a job's limit */
  private watch(
    instance: Instance<Job, Result>,
    {limitMs = this.settings.limitMs, pulse}: RunOptions = {},
  ): NodeJS.Timeout | undefined {
    if (limitMs === undefined) return undefined;
    if (pulse === undefined)
      return setTimeout(() => this.lose(instance, `its job took more than ${limitMs} ms`, HUNG), limitMs);
    let last = pulse();
    let still = 0;
    return setInterval(() => {
      const next = pulse();
      still = next === undefined || next !== last ? 0 : still + 1;
      last = next;
      if (still === BEATS) this.lose(instance, `it has not answered for ${limitMs} ms`, HUNG);
    }, limitMs / BEATS);
  }

  private noteUp(instance: Instance<Job, Result>): void {
    if (this.instance === instance) instance.upSinceMs ??= performance.now();
  }

  /** Its thread is gone: it had nothing to do, or it died. */
  private noteEnd(instance: Instance<Job, Result>): void {
    if (this.instance !== instance) return;
    if (this.jobs === 0 && this.settings.idleMs !== undefined) {
      this.instance = undefined;
      this.failures = 0;
    } else this.lose(instance);
  }

  /** @param reason - undefined: Piscina or the job that ran gives it in this turn. @param least - failures in a row */
  private lose(instance: Instance<Job, Result>, reason?: string, least = 1): void {
    instance.reason ??= reason;
    if (this.instance !== instance) return;
    this.instance = undefined;
    const isStable = instance.upSinceMs !== undefined && performance.now() - instance.upSinceMs > STABLE_MS;
    this.failures = Math.max(least, isStable ? 1 : this.failures + 1);
    setImmediate(() => {
      this.reason = instance.reason ?? "it ended";
      instance.reason = this.reason;
      // Its other jobs end with that reason.
      const gone = instance.pool.destroy().finally(() => this.leaving.delete(gone));
      this.leaving.add(gone);
      this.onLost(new ThreadLost(`the ${this.kind} thread was lost: ${this.reason}`));
    });
    if (this.failures === 1) this.startAgain();
    else {
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (this.failures - 2), LONGEST_PAUSE_MS);
      this.restart = setTimeout(() => this.startAgain(), pauseMs).unref();
    }
  }

  private startAgain(): void {
    if (this.leaving.size > (this.settings.isWriter === true ? 0 : 1)) {
      this.restart = setTimeout(() => this.startAgain(), FIRST_PAUSE_MS).unref();
      return;
    }
    this.restart = undefined;
    if (this.isClosed || this.settings.begin === undefined) return;
    // It has been lost again then, and `lose` has dealt with that.
    this.start().catch(() => {});
  }
}

/** @returns the thread with the fewest jobs of those that are not down, at least one. All down: the first */
export function freestOf<Thread extends Pick<SupervisedThread<never, unknown>, "state" | "jobs">>(
  threads: readonly Thread[],
): Thread {
  const [first, ...others] = threads;
  let best = first as Thread;
  for (const thread of others)
    if (thread.state !== "down" && (best.state === "down" || thread.jobs < best.jobs)) best = thread;
  return best;
}
