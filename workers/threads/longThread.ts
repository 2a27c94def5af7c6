/**
 * A thread that makes long estimates, several at a time, in turns. It starts with the first one. If it is stuck, another one takes its
 * place, and its estimates fail.
 */
import type {EstimateAnswers, EstimateJob} from "../messages/estimateJob.ts";
import {ThreadPool, type ThreadPoolOptions} from "./threadPool.ts";

type LongPool = ThreadPool<EstimateJob, EstimateAnswers>;

export class LongThread {
  jobs = 0;
  private pool: LongPool;

  constructor(
    private readonly options: ThreadPoolOptions,
    private readonly onExit: (error: Error) => void,
  ) {
    this.pool = this.createPool();
  }

  /** Not with an AbortSignal: Piscina gives a job that has one a thread of its own. @param limitMs - after which the thread is stuck */
  async estimate(job: EstimateJob, limitMs: number): Promise<EstimateAnswers> {
    const {pool} = this;
    this.jobs++;
    const timer = setTimeout(() => this.replace(pool), limitMs);
    try {
      return await pool.run(job);
    } finally {
      clearTimeout(timer);
      this.jobs--;
    }
  }

  close(): Promise<void> {
    return this.pool.close();
  }

  destroy(): Promise<void> {
    return this.pool.destroy();
  }

  private replace(stuck: LongPool): void {
    if (stuck !== this.pool) return;
    this.pool = this.createPool();
    this.onExit(new Error("a thread of the long estimate pool is stuck"));
    void stuck.destroy();
  }

  private createPool(): LongPool {
    return new ThreadPool("long estimate", this.options, this.onExit);
  }
}
