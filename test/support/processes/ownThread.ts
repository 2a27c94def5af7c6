/** A thread for work with many promises, each of which node:test would watch. The test closes it. */
import {SupervisedThread} from "../../../workers/threads/supervisor.ts";

export class OwnThread {
  // Which module runs, each work says itself.
  private readonly thread = new SupervisedThread<unknown, unknown>(
    {kind: "test's own", module: new URL(import.meta.url)},
    () => {},
  );

  /**
   * Runs a function there. The argument and the result are copied.
   *
   * @param module - compiled, below dist
   * @param name - of the function that it exports
   */
  async run<Result>(module: URL, name: string, argument?: unknown): Promise<Result> {
    return (await this.thread.run(argument, {filename: module.href, name})) as Result;
  }

  close(): Promise<void> {
    return this.thread.close();
  }
}
