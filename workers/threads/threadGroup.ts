/** Threads of one kind that share their jobs. */
import {type RunOptions, SupervisedThread, type ThreadLost, type ThreadSettings} from "./supervisor.ts";

export class ThreadGroup<Job, Result> {
  readonly threads: readonly SupervisedThread<Job, Result>[];

  /** @param count - at least 1 */
  constructor(count: number, settings: ThreadSettings<Job, Result>, onLost: (error: ThreadLost) => void) {
    this.threads = Array.from({length: count}, () => new SupervisedThread(settings, onLost));
  }

  /** Rejects if one of them cannot start. */
  async start(): Promise<void> {
    await Promise.all(this.threads.map(thread => thread.start()));
  }

  /** Runs on the thread with the fewest jobs. Rejects at once if all are down, otherwise as SupervisedThread.run. */
  run(job: Job, options?: RunOptions): Promise<Result> {
    let best: SupervisedThread<Job, Result> | undefined;
    for (const thread of this.threads)
      if (thread.state !== "down" && (best === undefined || thread.jobs < best.jobs)) best = thread;
    return (best ?? (this.threads[0] as SupervisedThread<Job, Result>)).run(job, options);
  }

  async close(): Promise<void> {
    await Promise.all(this.threads.map(thread => thread.close()));
  }

  async destroy(): Promise<void> {
    await Promise.all(this.threads.map(thread => thread.destroy()));
  }
}
