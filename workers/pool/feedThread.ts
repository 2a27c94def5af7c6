/** The thread that makes messages of blocks for a feed, started with its first job. */
import type {FeedAnswer, FeedJob} from "../job/feedJob.ts";
import type {WorkerSettings} from "../thread/workerStore.ts";
import {ThreadPool} from "./threadPool.ts";

export class FeedThread {
  private thread: ThreadPool<FeedJob, FeedAnswer> | undefined;

  /** @param onExit - called when the thread died, or could not start */
  constructor(
    private readonly settings: WorkerSettings,
    private readonly onExit: (error: Error) => void,
  ) {}

  /** Rejects if the thread dies. */
  run(job: FeedJob): Promise<FeedAnswer> {
    this.thread ??= new ThreadPool(
      "feed",
      {
        filename: new URL("../feed/feedWorker.js", import.meta.url).href,
        minThreads: 1,
        maxThreads: 1,
        workerData: this.settings,
      },
      this.onExit,
    );
    return this.thread.run(job);
  }

  /** The next job starts it again. */
  async close(): Promise<void> {
    const {thread} = this;
    this.thread = undefined;
    await thread?.close();
  }
}
