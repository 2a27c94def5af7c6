/** The main thread's view of the generator's threads. Each thread runs one driver. */
import {Worker} from "node:worker_threads";
import type {DriverEnd, DriverPlan} from "./driverPlan.ts";
import type {FromDriver, ToDriver} from "./driverThread.ts";
import type {Times} from "./schedule.ts";
import type {PostedRow} from "./timeline.ts";

export class DriverThreads {
  /** Settles when every thread is ready to start. */
  readonly ready: Promise<unknown>;
  private readonly threads: readonly Worker[];

  /** @param plans - one for each thread */
  constructor(
    plans: readonly DriverPlan[],
    private readonly onRow: (thread: number, row: PostedRow) => void,
  ) {
    this.threads = plans.map(
      plan => new Worker(new URL("./driverThread.js", import.meta.url), {workerData: plan}),
    );
    this.ready = Promise.all(this.threads.map(thread => hear(thread, "ready", () => {})));
  }

  /** @returns the last message of each thread, in their order. @throws the error that ended a thread early */
  start(times: Times): Promise<DriverEnd[]> {
    const ends = this.threads.map(async (thread, i) => {
      const message = await hear(thread, "end", other => {
        if (other.kind === "row") this.onRow(i, other.row);
      });
      return message.end;
    });
    for (const thread of this.threads) post(thread, {kind: "start", times});
    return Promise.all(ends);
  }

  /** No request is due from `endMs` on. */
  stop(endMs: number): void {
    for (const thread of this.threads) post(thread, {kind: "stop", endMs});
  }

  async close(): Promise<void> {
    await Promise.all(this.threads.map(thread => thread.terminate()));
  }
}

function post(thread: Worker, message: ToDriver): void {
  thread.postMessage(message);
}

/** Waits for one kind of message; others go to `onOther`. @throws the error that ended the thread early */
function hear<Kind extends FromDriver["kind"]>(
  thread: Worker,
  kind: Kind,
  onOther: (message: FromDriver) => void,
): Promise<Extract<FromDriver, {kind: Kind}>> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: FromDriver) => {
      if (message.kind !== kind) {
        onOther(message);
        return;
      }
      thread.off("message", onMessage);
      thread.off("error", reject);
      thread.off("exit", onExit);
      resolve(message as Extract<FromDriver, {kind: Kind}>);
    };
    const onExit = (code: number) => reject(new Error(`a thread of the load ended with ${code}`));
    thread.on("message", onMessage);
    thread.on("error", reject);
    thread.on("exit", onExit);
  });
}
