/**
 * One thread: started, watched, replaced and reported.
 *
 *   off -- start(), or its first job --> starting -- its first work is done --> up
 *    ^                                    |   ^                                |
 *    '--- idle for `idleMs` ------ up   dies  '------ after a pause ------ dies
 *                                         '--> down <--'
 *
 * A thread that dies ends its jobs with an error at once. It is started again: the first time at once, then after pauses that grow from
 * 0.1 to 30 s. From the first pause until it is up it is down, and jobs end with an error at once. A thread that was up for 10 s begins
 * with no pause again.
 *
 * The thread is a Piscina pool of one: Piscina hands over jobs, and rejects those of a thread that dies. But it starts a thread that cannot
 * start again and again, or never, and keeps its jobs waiting. So a pool that has lost its thread is destroyed.
 */
import {Piscina} from "piscina";
import type {WatchedThread} from "../messages/watchedThread.ts";

type PoolOptions = NonNullable<ConstructorParameters<typeof Piscina>[0]>;

export interface RunOptions extends NonNullable<Parameters<Piscina["run"]>[1]> {
  /** A job that takes longer has stuck the thread: it is lost, with all its jobs. */
  readonly limitMs?: number;
}

type Run<Job, Result> = (job: Job, options?: RunOptions) => Promise<Result>;

export interface ThreadSettings<Job, Result>
  extends Pick<
    PoolOptions,
    "workerData" | "resourceLimits" | "atomics" | "trackUnmanagedFds" | "concurrentTasksPerWorker"
  > {
  /** "proof" and the like: for messages and metrics. */
  readonly kind: string;
  /** The module that the thread runs. */
  readonly module: URL;
  /** The thread ends when it has had nothing to do for this long. Default: it stays. */
  readonly idleMs?: number;
  /**
   * The first work of each new thread, which is up when this is done. Without it the thread starts with its first job, and is up when it
   * has loaded its module.
   */
  readonly begin?: (run: Run<Job, Result>) => Promise<unknown>;
}

/** The thread died, or could not start. */
export class ThreadLost extends Error {
  override readonly name = "ThreadLost";
}

/** A pool that has had one thread at most. */
interface Life<Job, Result> {
  readonly pool: Piscina<Job, Result>;
  upSinceMs: number | undefined;
  /** Why it ended, as soon as somebody has said so. */
  reason: string | undefined;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 30_000;
const STABLE_MS = 10_000;

export class SupervisedThread<Job, Result> implements WatchedThread {
  /** Jobs that it works on, and that wait for it. */
  jobs = 0;
  private life: Life<Job, Result> | undefined;
  /** Lives in a row that ended early. */
  private failures = 0;
  reason = "";
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
    const {life} = this;
    if (life?.upSinceMs !== undefined) return "up";
    if (this.restart !== undefined || (life !== undefined && this.failures > 1)) return "down";
    return life === undefined ? "off" : "starting";
  }

  /** Rejects with ThreadLost if it cannot start, or what its first work throws. It is tried again all the same, unless it is closed. */
  async start(): Promise<void> {
    const life = this.createLife();
    try {
      await this.settings.begin?.((job, options) => this.runIn(life, job, options));
    } catch (error) {
      this.lose(life, (error as Error).message);
      throw error;
    }
    this.noteUp(life);
  }

  /** Rejects if the thread dies, with ThreadLost; at once if it is down or closed. Otherwise as the job's work ends. */
  async run(job: Job, options?: RunOptions): Promise<Result> {
    if (this.isClosed) throw new ThreadLost(`the ${this.kind} thread is closed`);
    if (this.state === "down") throw new ThreadLost(`the ${this.kind} thread is down: ${this.reason}`);
    return this.runIn(this.life ?? this.createLife(), job, options);
  }

  /** Waits for its jobs. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.end()?.close();
  }

  /** Ends it at once, also in the middle of a job. */
  async destroy(): Promise<void> {
    this.isClosed = true;
    await this.end()?.destroy();
  }

  /** As `destroy`, but it starts again with `start`, or with its next job. */
  async rest(): Promise<void> {
    await this.end()?.destroy();
  }

  private end(): Piscina<Job, Result> | undefined {
    clearTimeout(this.restart);
    this.restart = undefined;
    const {life} = this;
    this.life = undefined;
    return life?.pool;
  }

  private createLife(): Life<Job, Result> {
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
    const life = {pool, upSinceMs: undefined, reason: undefined};
    // It has loaded its module. A job may last as long as the process, so its answer would tell too late.
    if (begin === undefined) pool.on("workerCreate", () => this.noteUp(life));
    pool.on("error", (error: Error) => this.lose(life, error.message));
    pool.on("workerDestroy", () => this.noteEnd(life));
    this.life = life;
    return life;
  }

  private async runIn(life: Life<Job, Result>, job: Job, options?: RunOptions): Promise<Result> {
    this.jobs++;
    const limitMs = options?.limitMs;
    const timer =
      limitMs === undefined
        ? undefined
        : setTimeout(() => this.lose(life, `its job took more than ${limitMs} ms`), limitMs);
    try {
      return await life.pool.run(job, options);
    } catch (error) {
      if (this.life === life || this.isClosed) throw error;
      // The job that ran when the thread died knows why. Of jobs that waited, Piscina says only that they were ended.
      life.reason ??= (error as Error).message;
      throw new ThreadLost(`the ${this.kind} thread was lost: ${life.reason}`, {cause: error});
    } finally {
      clearTimeout(timer);
      this.jobs--;
    }
  }

  private noteUp(life: Life<Job, Result>): void {
    if (this.life === life) life.upSinceMs ??= performance.now();
  }

  /** Its thread is gone: it had nothing to do, or it died. */
  private noteEnd(life: Life<Job, Result>): void {
    if (this.life !== life) return;
    if (this.jobs === 0 && this.settings.idleMs !== undefined) this.life = undefined;
    else this.lose(life);
  }

  /** @param reason - undefined: who says it comes in this turn, which is Piscina's event or the job that ran */
  private lose(life: Life<Job, Result>, reason?: string): void {
    life.reason ??= reason;
    if (this.life !== life) return;
    this.life = undefined;
    const isStable = life.upSinceMs !== undefined && performance.now() - life.upSinceMs > STABLE_MS;
    this.failures = isStable ? 1 : this.failures + 1;
    setImmediate(() => {
      this.reason = life.reason ?? "it ended";
      life.reason = this.reason;
      // Its other jobs end with that reason.
      void life.pool.destroy();
      this.onLost(new ThreadLost(`the ${this.kind} thread was lost: ${this.reason}`));
    });
    if (this.failures === 1) this.startAgain();
    else {
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (this.failures - 2), LONGEST_PAUSE_MS);
      this.restart = setTimeout(() => this.startAgain(), pauseMs).unref();
    }
  }

  private startAgain(): void {
    this.restart = undefined;
    if (this.isClosed || this.settings.begin === undefined) return;
    // It has been lost again then, and `lose` has dealt with that.
    this.start().catch(() => {});
  }
}
