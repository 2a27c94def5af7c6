/** Entry of a generator thread: runs a driver, which messages start and stop. */
import {parentPort, workerData} from "node:worker_threads";
import {Driver} from "./driver.ts";
import type {DriverPlan, FromDriver, ToDriver} from "./driverPlan.ts";

if (!parentPort) throw new Error("driverThread.ts runs in a worker thread");
const port = parentPort;
const post = (message: FromDriver) => {
  port.postMessage(message);
  if (message.kind === "end") port.close();
};
const driver = new Driver(workerData as DriverPlan, post);
port.on("message", (message: ToDriver) => {
  if (message.kind === "start") driver.start(message.times);
  else driver.stop(message.endMs);
});
post({kind: "ready"});
