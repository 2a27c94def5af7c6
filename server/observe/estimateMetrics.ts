/** The queues of the estimates in /metrics: first slices, second ones, and calls that have all their time. */
import {Counter, Gauge, type Registry} from "prom-client";
import type {QueueFigures} from "./queueFigures.ts";
import type {RefusalLog} from "./refusalLog.ts";

/** Where they are read. */
export interface EstimateQueues {
  /** How many calls are in each queue: waiting, or in the first one also under way. */
  readEstimateQueues(): readonly {readonly figures: QueueFigures; readonly calls: number}[];
  /** Calls that came back from their tasks unbegun, so far. */
  readonly givenBack: number;
}

export function registerEstimateQueues(
  registers: Registry[],
  queues: EstimateQueues,
  refusals: RefusalLog,
): void {
  new Gauge({
    name: "proofd_estimate_queue_calls",
    help: "Gas estimates that wait: for their first slice (or have it), a second one, or as long calls",
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
    "Calls that left a queue for a thread; in the queues second and long: that began again",
    figures => figures.started,
  );
  registerQueueTotal(
    registers,
    queues,
    "proofd_estimate_wait_seconds_total",
    "Time that those calls waited in it, all together",
    figures => figures.waitedMs / 1000,
  );
  new Counter({
    name: "proofd_estimates_refused_total",
    help: "Estimates turned away because a queue was full, or the wait in it too long",
    labelNames: ["queue", "reason"],
    registers,
    collect() {
      this.reset();
      for (const {queue, reason, count} of refusals.counts()) this.inc({queue, reason}, count);
    },
  });
  new Counter({
    name: "proofd_estimates_given_back_total",
    help: "Calls that shared a task with slow ones and came back unbegun",
    registers,
    collect() {
      this.reset();
      this.inc(queues.givenBack);
    },
  });
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
