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

  /** Rejects if the thread dies, cannot start or is closed. */
  run(job: FeedJob): Promise<FeedAnswer> {
    this.thread ??= new ThreadPool(
      "feed",
      {
        filename: new URL("../feed/feedWorker.js", import.meta.url).href,
        minThreads: 1,
        maxThreads: 1,
        workerData: this.settings,
      },
      error => {
        this.onExit(error);
        // Piscina would start one after another in its place, for ever where none can start.
        void this.close();
      },
    );
    return this.thread.run(job);
  }

  /** Ends it at once: who wants its answer asks again. The next job starts another one. */
  async close(): Promise<void> {
    const {thread} = this;
    this.thread = undefined;
    await thread?.destroy();
  }
}
