/** Threads of one kind, as a Piscina pool that reports each thread that dies. */
import {Piscina} from "piscina";

export type ThreadPoolOptions = NonNullable<ConstructorParameters<typeof Piscina>[0]>;

export type RunOptions = NonNullable<Parameters<Piscina["run"]>[1]>;

export class ThreadPool<Job, Result> {
  private readonly piscina: Piscina<Job, Result>;
  private closing = false;

  /**
   * @param kind - "proof" and the like, for the message
   * @param onExit - called when a thread could not start, or has died; a dead thread is replaced
   */
  constructor(kind: string, options: ThreadPoolOptions, onExit: (error: Error) => void) {
    this.piscina = new Piscina({...options, recordTiming: false});
    this.piscina.on("error", onExit);
    this.piscina.on("workerDestroy", () => {
      if (!this.closing) onExit(new Error(`a thread of the ${kind} pool ended`));
    });
  }

  /** Runs on one thread. Rejects if that thread dies. */
  run(job: Job, options: RunOptions = {}): Promise<Result> {
    return this.piscina.run(job, options);
  }

  async close(): Promise<void> {
    this.closing = true;
    await this.piscina.close();
  }

  /** Ends the threads at once, also in the middle of a job. */
  async destroy(): Promise<void> {
    this.closing = true;
    await this.piscina.destroy();
  }
}
