/**
 * A load from beginning to end.
 *
 *   ask the server what it is -> threads: warm-up, measured time, what is under way -> verify a sample -> report
 */
import {Worker} from "node:worker_threads";
import {LoadError} from "./loadError.ts";
import type {LoadOptions} from "./loadOptions.ts";
import {describeMachine, type Machine} from "./report/machine.ts";
import {createReport, type LoadReport} from "./report/report.ts";
import type {BlockSpan} from "./requests/blockChoice.ts";
import type {Keys} from "./requests/keys.ts";
import {Random} from "./requests/random.ts";
import {nowMs} from "./traffic/clock.ts";
import type {Endpoint} from "./traffic/connection.ts";
import type {DriverEnd, DriverPlan, Times} from "./traffic/driver.ts";
import type {FromDriver, ToDriver} from "./traffic/driverThread.ts";
import {createHistogram, decodeHistogram} from "./traffic/latency.ts";
import {AFTER_THE_END} from "./traffic/secondRow.ts";
import {addTally, createTally} from "./traffic/tally.ts";
import {Timeline, type TimelineRow} from "./traffic/timeline.ts";
import {RpcAnswerError, RpcClient} from "./verification/rpcClient.ts";
import {chooseBlocks, findKeys, readTarget, type Target} from "./verification/target.ts";
import {TrustedRoots} from "./verification/trustedRoots.ts";
import {createSkipped, type Verification, verifySamples} from "./verification/verification.ts";

export interface RunningLoad {
  /** @throws LoadError where there is no report */
  readonly outcome: Promise<LoadReport>;
  /** Ends the measured time now; what is under way is followed to its end and the report comes. */
  stop(): void;
}

/** Hears of both ends of the measured time as they pass: to read what else is measured, such as the server's CPU time. */
export interface WindowListener {
  onMeasureStart(): void;
  /** Not later than the outcome. */
  onMeasureEnd(): void;
}

/** @param onSecond - every second of the warm-up (below 0) and of the measured time, soon after it ended */
export function startLoad(
  options: LoadOptions,
  onSecond: (row: TimelineRow) => void,
  listener?: WindowListener,
): RunningLoad {
  const run = new LoadRun(options, onSecond, listener);
  return {outcome: run.run(), stop: () => run.stop()};
}

/** So long before its time a thread is told when to start or to end. */
const LEAD_MS = 20;
/**
 * Answers to verify come from at least so many requests, since the calls of one batch have much in common; and from
 * twice as many batches as would do, since some of their calls may have got errors.
 */
const MIN_SAMPLES = 16;

class LoadRun {
  readonly #options: LoadOptions;
  readonly #onSecond: (row: TimelineRow) => void;
  readonly #listener: WindowListener | undefined;
  readonly #endpoint: Endpoint;
  readonly #timeline: Timeline;
  #threads: Worker[] = [];
  #times: Times | null = null;
  #stopMs = Number.POSITIVE_INFINITY;
  #cpuMs: number | null = null;

  constructor(options: LoadOptions, onSecond: (row: TimelineRow) => void, listener?: WindowListener) {
    this.#options = options;
    this.#onSecond = onSecond;
    this.#listener = listener;
    const {url, timeoutMs, version} = options;
    const path = `${url.pathname}${url.search}`;
    this.#endpoint = {origin: url.origin, path, timeoutMs, userAgent: `proofd-load/${version}`};
    this.#timeline = new Timeline(options.threads);
  }

  stop(): void {
    this.#stopMs = Math.min(this.#stopMs, nowMs() + LEAD_MS);
    for (const thread of this.#threads) post(thread, {kind: "stop", endMs: this.#stopMs});
  }

  async run(): Promise<LoadReport> {
    const rpc = new RpcClient(this.#endpoint);
    try {
      const machine = describeMachine();
      const target = await readTarget(rpc, this.#options.style);
      const blocks = chooseBlocks(this.#options.blocks, target);
      const {keys, origin} = await this.#chooseKeys(rpc, target);
      const roots = new TrustedRoots(rpc, this.#options.style);
      const unverifiable = this.#options.verify === 0 ? "--verify 0" : await roots.markStart();
      const startedAt = new Date();
      const ends = await this.#drive(blocks, keys);
      const verification = await this.#verify(ends, roots, unverifiable);
      return this.#report({machine, target, blocks, keys: origin, startedAt, ends, verification});
    } finally {
      await rpc.close();
      await Promise.all(this.#threads.map(thread => thread.terminate()));
    }
  }

  async #chooseKeys(rpc: RpcClient, target: Target): Promise<{keys: Keys; origin: string}> {
    const {keys, absent, estimates, style} = this.#options;
    if (keys.kind === "numbered") return {keys, origin: `${keys.count} accounts by number`};
    if (keys.kind === "file") {
      const {accounts, path} = keys;
      return {keys: {kind: "list", accounts}, origin: `${accounts.length} accounts of ${path}`};
    }
    if (absent === 1 && estimates === 0)
      return {keys: {kind: "list", accounts: []}, origin: "absent accounts only"};
    const {origin, ...found} = await findKeys(rpc, style, target);
    const count = found.kind === "list" ? found.accounts.length : found.count;
    return {keys: found, origin: `${count} accounts of ${origin}`};
  }

  async #drive(blocks: BlockSpan | null, keys: Keys): Promise<DriverEnd[]> {
    const {threads, connections, verify, batch, style, slots, absent, estimates, estimateParams, seed, rate} =
      this.#options;
    const samples =
      batch === 1 ? verify : Math.max(Math.ceil((2 * verify) / batch), Math.min(verify, MIN_SAMPLES));
    const plans = Array.from({length: threads}, (_, thread): DriverPlan => {
      return {
        endpoint: this.#endpoint,
        requests: {style, batch, slots, absent, estimates, estimateParams, blocks, keys},
        seed,
        rate,
        threads,
        thread,
        connections: shareOf(connections, threads, thread),
        samples: shareOf(samples, threads, thread),
      };
    });
    this.#threads = plans.map(
      plan => new Worker(new URL("./traffic/driverThread.js", import.meta.url), {workerData: plan}),
    );
    await Promise.all(this.#threads.map(thread => hear(thread, "ready", () => {})));
    const ends = this.#threads.map((thread, i) =>
      hear(thread, "end", message => {
        if (message.kind !== "row") return;
        for (const row of this.#timeline.add(i, message.row))
          if (row.second !== AFTER_THE_END) this.#onSecond(row);
      }),
    );
    const startMs = nowMs() + LEAD_MS;
    const measureMs = startMs + 1000 * this.#options.warmUpSeconds;
    const endMs = measureMs + 1000 * this.#options.durationSeconds;
    this.#times = {startMs, measureMs, endMs};
    for (const thread of this.#threads) post(thread, {kind: "start", times: this.#times});
    // A signal that came before the threads could be told.
    if (this.#stopMs < Number.POSITIVE_INFINITY) this.stop();
    const messages = await this.#measureCpu(measureMs, endMs, Promise.all(ends));
    return messages.map(message => (message.kind === "end" ? message.end : unexpected()));
  }

  /** CPU time of the measured time only. */
  async #measureCpu<T>(measureMs: number, endMs: number, load: Promise<T>): Promise<T> {
    let atStart = process.cpuUsage();
    const onEnd = () => {
      const {user, system} = process.cpuUsage(atStart);
      this.#cpuMs = (user + system) / 1000;
      this.#listener?.onMeasureEnd();
    };
    const startTimer = setTimeout(
      () => {
        atStart = process.cpuUsage();
        this.#listener?.onMeasureStart();
      },
      Math.max(0, measureMs - nowMs()),
    );
    const endTimer = setTimeout(onEnd, endMs - nowMs());
    const outcome = await load;
    clearTimeout(startTimer);
    clearTimeout(endTimer);
    if (this.#cpuMs === null) onEnd();
    return outcome;
  }

  async #verify(
    ends: readonly DriverEnd[],
    roots: TrustedRoots,
    unverifiable: string | null,
  ): Promise<Verification> {
    const {verify, style, seed, threads} = this.#options;
    const samples = ends.flatMap(end => end.samples);
    if (unverifiable !== null) return createSkipped(unverifiable);
    if (samples.length === 0) return createSkipped("there was no result");
    try {
      return await verifySamples(samples, verify, style, roots, new Random(seed, 2 * threads));
    } catch (error) {
      if (!(error instanceof LoadError) && !(error instanceof RpcAnswerError)) throw error;
      return createSkipped(`the state roots could not be read after the load: ${error.message}`);
    }
  }

  #report(parts: {
    readonly machine: Machine;
    readonly target: Target;
    readonly blocks: BlockSpan | null;
    readonly keys: string;
    readonly startedAt: Date;
    readonly ends: readonly DriverEnd[];
    readonly verification: Verification;
  }): LoadReport {
    const {measureMs, endMs} = this.#times as Times;
    const tally = createTally();
    const sendLag = createHistogram();
    const service = createHistogram();
    for (const end of parts.ends) {
      addTally(tally, end.tally);
      sendLag.add(decodeHistogram(end.sendLag));
      service.add(decodeHistogram(end.service));
    }
    return createReport({
      ...parts,
      options: this.#options,
      server: parts.target,
      seconds: Math.max(0, Math.min(endMs, this.#stopMs) - measureMs) / 1000,
      tally,
      sendLag,
      service,
      cpuMs: this.#cpuMs ?? 0,
      // Ends first: the total is complete only then.
      timeline: this.#timeline.end(),
      latency: this.#timeline.total,
      utilization: parts.ends.map(({utilization}) => utilization),
    });
  }
}

/** @returns the `index`-th of `parts` shares of `whole`, none more than one above another */
function shareOf(whole: number, parts: number, index: number): number {
  return Math.floor((whole * (index + 1)) / parts) - Math.floor((whole * index) / parts);
}

function post(thread: Worker, message: ToDriver): void {
  thread.postMessage(message);
}

/** Waits for a kind of message; others go to `onOther`. @throws what ended the thread before */
function hear(
  thread: Worker,
  kind: FromDriver["kind"],
  onOther: (message: FromDriver) => void,
): Promise<FromDriver> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: FromDriver) => {
      if (message.kind !== kind) {
        onOther(message);
        return;
      }
      thread.off("message", onMessage);
      thread.off("error", reject);
      thread.off("exit", onExit);
      resolve(message);
    };
    const onExit = (code: number) => reject(new Error(`a thread of the load ended with ${code}`));
    thread.on("message", onMessage);
    thread.on("error", reject);
    thread.on("exit", onExit);
  });
}

function unexpected(): never {
  throw new Error("a thread sent another message than its end");
}
