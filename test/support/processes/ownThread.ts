/**
 * A thread for work with many promises: node:test watches each one that is made on the test's thread, which may take longer
 * than the work. The test closes it.
 */
import {ThreadPool} from "../../../workers/threads/threadPool.ts";

export class OwnThread {
  private readonly threads: ThreadPool<unknown, unknown>;

  constructor() {
    // It starts with the first work. `run` rejects if it dies.
    this.threads = new ThreadPool(
      "test's own",
      {maxThreads: 1, idleTimeout: Number.POSITIVE_INFINITY},
      () => {},
    );
  }

  /**
   * Runs a function there. The argument and the result are copied.
   *
   * @param module - compiled, below dist
   * @param name - of the function that it exports
   */
  async run<Result>(module: URL, name: string, argument?: unknown): Promise<Result> {
    return (await this.threads.run(argument, {filename: module.href, name})) as Result;
  }

  close(): Promise<void> {
    return this.threads.close();
  }
}
