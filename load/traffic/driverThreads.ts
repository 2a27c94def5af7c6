/** The generator threads as the main thread controls them. Each runs one driver. */
import {Worker} from "node:worker_threads";
import type {DriverPlan, FromDriver, ToDriver} from "./driverPlan.ts";
import type {DriverEnd} from "./recorder.ts";
import type {Times} from "./schedule.ts";
import type {PostedRow} from "./timeline.ts";

export class DriverThreads {
  /** Resolves when all threads are ready. @throws the error that ended a thread early */
  readonly ready: Promise<unknown>;
  private readonly threads: readonly ReturnType<typeof startThread>[];

  constructor(plans: readonly DriverPlan[], onRow: (thread: number, row: PostedRow) => void) {
    this.threads = plans.map((plan, i) => startThread(plan, row => onRow(i, row)));
    this.ready = Promise.all(this.threads.map(({ready}) => ready));
  }

  /** @returns the results in the order of the plans. @throws the error that ended a thread early */
  start(times: Times): Promise<DriverEnd[]> {
    this.post({kind: "start", times});
    return Promise.all(this.threads.map(({end}) => end));
  }

  stop(endMs: number): void {
    this.post({kind: "stop", endMs});
  }

  async close(): Promise<void> {
    await Promise.all(this.threads.map(({worker}) => worker.terminate()));
  }

  private post(message: ToDriver): void {
    for (const {worker} of this.threads) worker.postMessage(message);
  }
}

function startThread(plan: DriverPlan, onRow: (row: PostedRow) => void) {
  const worker = new Worker(new URL("./driver.js", import.meta.url), {workerData: plan});
  const ready = new Promise(resolve => worker.once("message", resolve));
  const end = new Promise<DriverEnd>((resolve, reject) => {
    worker.on("message", (message: FromDriver) => {
      if (message.kind === "row") onRow(message.row);
      else if (message.kind === "end") resolve(message.end);
    });
    worker.on("error", reject);
    worker.on("exit", code => reject(new Error(`a thread of the load ended with ${code}`)));
  });
  return {worker, ready: Promise.race([ready, end]), end};
}
