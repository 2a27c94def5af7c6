/**
 * Generates one thread's share of the load: the entry of a generator thread, which messages start and stop.
 *
 *   closed loop   each connection sends its next request when it has received the answer to the last one
 *   open loop     requests are due at fixed times (schedule.ts), whatever happened to earlier ones. A request takes the
 *                 connection that has been idle longest. If none is idle it waits, and its latency includes the wait
 *
 *   startMs            measureMs        endMs                 last answer or time-out
 *     |     warm-up       |   measured    |         drain        |
 *
 * A request counts if it was due in the measured time. None is due after it.
 */
import {parentPort, workerData} from "node:worker_threads";
import {Random} from "../requests/random.ts";
import {RequestMaker} from "../requests/requestMaker.ts";
import {Connection} from "./connection.ts";
import type {DriverPlan, FromDriver, ToDriver} from "./driverPlan.ts";
import {Recorder, Sampler} from "./recorder.ts";
import {nowMs, Schedule, type Times} from "./schedule.ts";
import {type ThreadShares, ThreadTime} from "./threadTime.ts";
import type {PostedRow} from "./timeline.ts";

/** Closed loop: pause of a connection after a failure, so that a server that is down is not called in a tight loop. */
const RETRY_MS = 100;
const FLUSH_EVERY_MS = 200;

class Driver {
  private readonly maker: RequestMaker;
  private readonly recorder: Recorder;
  private readonly connections: Connection[];
  /** Open loop: idle connections, the longest idle first. */
  private readonly idle: Connection[] = [];
  private schedule: Schedule | undefined;
  private busy = 0;
  private retrying = 0;
  private hasEnded = false;
  private wakeTimer: NodeJS.Timeout | undefined;
  private readonly timers: NodeJS.Timeout[] = [];
  private time = new ThreadTime();
  private shares: ThreadShares | undefined;

  constructor(
    private readonly plan: DriverPlan,
    private readonly post: (message: FromDriver) => void,
  ) {
    // Separate streams: a seed determines the requests, whichever answers are sampled.
    this.maker = new RequestMaker(plan.requests, new Random(plan.seed, plan.thread));
    const sampler = new Sampler(plan.samples, new Random(plan.seed, plan.threads + plan.thread));
    const onRow = (row: PostedRow) => post({kind: "row", row});
    this.recorder = new Recorder(plan.endpoint, plan.requests, plan.rate !== undefined, sampler, onRow);
    this.connections = Array.from({length: plan.connections}, () => new Connection(plan.endpoint, this));
  }

  start(times: Times): void {
    this.recorder.times = times;
    const untilStartMs = Math.max(0, times.startMs - nowMs());
    const {timeoutMs} = this.plan.endpoint;
    this.timers.push(
      setTimeout(() => this.begin(), untilStartMs),
      setTimeout(
        () => {
          this.time = new ThreadTime();
        },
        untilStartMs + (times.measureMs - times.startMs),
      ),
      setTimeout(() => this.onMeasured(), untilStartMs + (times.endMs - times.startMs)),
      setInterval(() => this.timeOutRequests(), Math.min(100, Math.max(5, timeoutMs / 20))),
      setInterval(() => this.recorder.flushRow(), FLUSH_EVERY_MS),
    );
  }

  /** No request is due from `endMs` on, or from now on if that is later. */
  stop(endMs: number): void {
    const now = nowMs();
    const end = Math.max(endMs, now);
    if (end >= this.times.endMs) return;
    this.recorder.times = {...this.times, endMs: end, measureMs: Math.min(this.times.measureMs, end)};
    this.timers.push(setTimeout(() => this.onMeasured(), end - now));
  }

  private get times(): Times {
    return this.recorder.times;
  }

  private begin(): void {
    const {rate, threads, thread} = this.plan;
    // Timers may fire a fraction of a millisecond early. Requests before the start would not count.
    if (nowMs() < this.times.startMs) {
      setImmediate(() => this.begin());
      return;
    }
    if (rate === undefined) {
      for (const connection of this.connections) this.sendNext(connection);
      return;
    }
    this.schedule = new Schedule(this.times.startMs, rate, threads, thread);
    this.idle.push(...this.connections);
    this.sendDue();
  }

  /** Called at the end of the measured time. Later calls return the same. */
  private onMeasured(): ThreadShares {
    this.shares ??= this.time.read();
    return this.shares;
  }

  /** Closed loop: sends the connection's next request. */
  private sendNext(connection: Connection): void {
    const now = nowMs();
    if (now < this.times.endMs) {
      this.busy++;
      connection.send(this.maker.next(), now);
    } else {
      this.endIfDone();
    }
  }

  /** Open loop: sends all due requests for which there is a connection. */
  private sendDue(): void {
    const schedule = this.schedule as Schedule;
    const {timeoutMs} = this.plan.endpoint;
    const now = nowMs();
    clearTimeout(this.wakeTimer);
    for (; schedule.dueMs <= now && schedule.dueMs < this.times.endMs; schedule.advance()) {
      const {dueMs} = schedule;
      if (now - dueMs >= timeoutMs) {
        this.recorder.countTimeout(dueMs, now, true);
        continue;
      }
      const connection = this.idle.shift();
      if (connection === undefined) return; // called again when a connection becomes free
      const couldBeSentMs = Math.max(dueMs, connection.idleSinceMs);
      this.recorder.countSent(dueMs, couldBeSentMs, now);
      this.busy++;
      connection.send(this.maker.next(), dueMs);
    }
    if (schedule.dueMs < this.times.endMs) {
      this.wakeTimer = setTimeout(() => this.sendDue(), Math.max(1, schedule.dueMs - nowMs()));
    } else {
      this.endIfDone();
    }
  }

  onAnswer(connection: Connection): void {
    this.busy--;
    this.recorder.countAnswer(connection, nowMs());
    this.sendOn(connection);
  }

  onSocketError(connection: Connection, code: string, message: string): void {
    this.busy--;
    this.recorder.countSocketError(connection.dueMs, code, message);
    if (this.schedule !== undefined) {
      this.sendOn(connection);
      return;
    }
    this.retrying++;
    setTimeout(() => {
      this.retrying--;
      this.sendOn(connection);
    }, RETRY_MS);
  }

  private sendOn(connection: Connection): void {
    if (this.schedule === undefined) {
      this.sendNext(connection);
    } else {
      this.idle.push(connection);
      this.sendDue();
    }
  }

  private timeOutRequests(): void {
    const now = nowMs();
    const {timeoutMs} = this.plan.endpoint;
    for (const [i, connection] of this.connections.entries()) {
      if (!connection.isBusy || now - connection.dueMs < timeoutMs) continue;
      this.busy--;
      connection.close();
      this.recorder.countTimeout(connection.dueMs, now, false);
      const next = new Connection(this.plan.endpoint, this);
      this.connections[i] = next;
      this.sendOn(next);
    }
    if (this.schedule !== undefined) this.sendDue();
    // If the last answer arrived just before the end, nothing else calls this.
    this.endIfDone();
  }

  private endIfDone(): void {
    const isDrained = this.schedule === undefined || this.schedule.dueMs >= this.times.endMs;
    if (this.hasEnded || this.busy > 0 || this.retrying > 0 || !isDrained || nowMs() < this.times.endMs)
      return;
    this.hasEnded = true;
    for (const timer of this.timers) clearTimeout(timer);
    clearTimeout(this.wakeTimer);
    for (const connection of this.connections) connection.close();
    this.post({kind: "end", end: this.recorder.end(this.onMeasured())});
  }
}

if (!parentPort) throw new Error("driver.ts runs in a worker thread");
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
