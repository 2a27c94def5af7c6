/** A thread of the generator: runs a driver, which it starts and stops by message. */
import {parentPort, workerData} from "node:worker_threads";
import {Driver} from "./driver.ts";
import type {DriverEnd, DriverPlan} from "./driverPlan.ts";
import type {Times} from "./schedule.ts";
import type {PostedRow} from "./timeline.ts";

export type ToDriver =
  | {readonly kind: "start"; readonly times: Times}
  | {readonly kind: "stop"; readonly endMs: number};

export type FromDriver =
  | {readonly kind: "ready"}
  | {readonly kind: "row"; readonly row: PostedRow}
  | {readonly kind: "end"; readonly end: DriverEnd};

if (!parentPort) throw new Error("driverThread.ts runs in a worker thread");
const port = parentPort;
const post = (message: FromDriver) => port.postMessage(message);
const driver = new Driver(workerData as DriverPlan, {
  onRow: row => post({kind: "row", row}),
  onEnd: end => {
    post({kind: "end", end});
    port.close();
  },
});
port.on("message", (message: ToDriver) => {
  if (message.kind === "start") driver.start(message.times);
  else driver.stop(message.endMs);
});
post({kind: "ready"});
