/** The queues of estimates in /metrics: for first slices, for second slices, and for long calls, which have their whole time. */
import {Counter, Gauge, type Registry} from "prom-client";
import type {QueueFigures} from "./queueFigures.ts";
import type {RefusalLog} from "./refusalLog.ts";
import {registerTotal} from "./scrapedFigure.ts";

/** Where the figures are read. */
export interface EstimateQueues {
  /** The calls in each queue. They wait. In the first queue, running calls count too. */
  readEstimateQueues(): readonly {readonly figures: QueueFigures; readonly calls: number}[];
  /** Number of calls that came back from their tasks because they had not begun. */
  readonly givenBack: number;
}

export function registerEstimateQueues(
  registers: Registry[],
  queues: EstimateQueues,
  refusals: RefusalLog,
): void {
  new Gauge({
    name: "proofd_estimate_queue_calls",
    help: "Gas estimates in each queue: first (waiting or running), second (waiting), long (waiting)",
    labelNames: ["queue"],
    registers,
    collect() {
      for (const {figures, calls} of queues.readEstimateQueues()) this.set({queue: figures.name}, calls);
    },
  });
  registerQueueTotal(
    registers,
    queues,
    "proofd_estimate_starts_total",
    "Gas estimates that left a queue for a thread. From the queues second and long, they begin again",
    figures => figures.started,
  );
  registerQueueTotal(
    registers,
    queues,
    "proofd_estimate_wait_seconds_total",
    "Total time that these gas estimates waited in the queue",
    figures => figures.waitedMs / 1000,
  );
  new Counter({
    name: "proofd_refused_total",
    help: "Requests for proofs and gas estimates turned away because a queue was full or the wait in it would be too long",
    labelNames: ["queue", "reason"],
    registers,
    collect() {
      this.reset();
      for (const {queue, reason, count} of refusals.counts()) this.inc({queue, reason}, count);
    },
  });
  registerTotal(
    registers,
    "proofd_estimates_given_back_total",
    "Gas estimates that came back from a task because slow ones in it left no time to begin them",
    () => queues.givenBack,
  );
}

function registerQueueTotal(
  registers: Registry[],
  queues: EstimateQueues,
  name: string,
  help: string,
  read: (figures: QueueFigures) => number,
): void {
  new Counter({
    name,
    help,
    labelNames: ["queue"],
    registers,
    collect() {
      this.reset();
      for (const {figures} of queues.readEstimateQueues()) this.inc({queue: figures.name}, read(figures));
    },
  });
}
