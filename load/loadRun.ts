/**
 * Runs a load:
 *
 *   read chain and accounts from the server -> threads: warm-up, measured time, drain -> verify a sample -> report
 */
import type {LoadOptions} from "./loadOptions.ts";
import {createReport, type LoadReport} from "./report/loadReport.ts";
import {describeMachine} from "./report/machine.ts";
import type {Keys} from "./requests/keys.ts";
import {Random} from "./requests/random.ts";
import type {BlockSpan} from "./requests/requestMaker.ts";
import type {Endpoint} from "./traffic/connection.ts";
import {planDrivers} from "./traffic/driverPlan.ts";
import {DriverThreads} from "./traffic/driverThreads.ts";
import type {DriverEnd} from "./traffic/recorder.ts";
import {nowMs, type Times} from "./traffic/schedule.ts";
import {AFTER_THE_END, Timeline, type TimelineRow} from "./traffic/timeline.ts";
import {RpcClient} from "./verification/rpcClient.ts";
import {readUsage, usageBetween} from "./verification/serverUsage.ts";
import {chooseBlocks, chooseKeys, readTarget} from "./verification/target.ts";
import {TrustedRoots} from "./verification/trustedRoots.ts";
import {createSkipped, verifySamples} from "./verification/verifySamples.ts";

/** Called when the measured time starts and ends, to read figures such as the server's CPU time. */
interface WindowListener {
  onMeasureStart(): void;
  /** Called before the outcome resolves. */
  onMeasureEnd(): void;
}

/** @param onSecond - called soon after each second of the warm-up (negative numbers) and of the measured time */
export function startLoad(
  options: LoadOptions,
  onSecond: (row: TimelineRow) => void,
  listener?: WindowListener,
): LoadRun {
  return new LoadRun(options, onSecond, listener);
}

/** Threads get a start or end time that lies this far in the future. */
const LEAD_MS = 20;

class LoadRun {
  /** @throws LoadError if the load ends without a report */
  readonly outcome: Promise<LoadReport>;
  private readonly endpoint: Endpoint;
  private readonly timeline: Timeline;
  private threads: DriverThreads | undefined;
  private times: Times | undefined;
  private stopMs = Number.POSITIVE_INFINITY;
  private cpuMs: number | undefined;
  private usageAtStart: ReturnType<typeof readUsage> | undefined;
  private usageAtEnd: ReturnType<typeof readUsage> | undefined;

  constructor(
    private readonly options: LoadOptions,
    private readonly onSecond: (row: TimelineRow) => void,
    private readonly listener?: WindowListener,
  ) {
    const {url, headers = {}, timeoutMs, version} = options;
    const path = `${url.pathname}${url.search}`;
    this.endpoint = {origin: url.origin, path, timeoutMs, userAgent: `proofd-load/${version}`, headers};
    this.timeline = new Timeline(options.threads);
    this.outcome = this.run();
  }

  /** Ends the measured time now. Requests under way are awaited, then `outcome` resolves. */
  stop(): void {
    this.stopMs = Math.min(this.stopMs, nowMs() + LEAD_MS);
    this.threads?.stop(this.stopMs);
  }

  private async run(): Promise<LoadReport> {
    const {options, timeline} = this;
    const rpc = new RpcClient(this.endpoint);
    try {
      const machine = describeMachine();
      const server = await readTarget(rpc, options.style);
      const blocks = chooseBlocks(options.blocks, server);
      const keys = await chooseKeys(rpc, options, server);
      const roots = new TrustedRoots(rpc, options.style);
      const unverifiable = options.verify === 0 ? "--verify 0" : await roots.markStart();
      const startedAt = new Date();
      const ends = await this.drive(blocks, keys);
      const {verify, style, seed, threads} = options;
      const samples = ends.flatMap(end => end.samples);
      const random = new Random(seed, 2 * threads);
      const verification =
        unverifiable === undefined
          ? await verifySamples(samples, verify, style, roots, random)
          : createSkipped(unverifiable);
      const {measureMs, endMs} = this.times as Times;
      const seconds = Math.max(0, Math.min(endMs, this.stopMs) - measureMs) / 1000;
      const serverUsage =
        this.usageAtStart === undefined || this.usageAtEnd === undefined
          ? "nothing was measured"
          : usageBetween(await this.usageAtStart, await this.usageAtEnd);
      const measured = {machine, startedAt, seconds, ends, timeline, cpuMs: this.cpuMs ?? 0, serverUsage};
      return createReport({options, server, blocks, keys, verification, ...measured});
    } finally {
      await this.threads?.close();
    }
  }

  private async drive(blocks: BlockSpan | undefined, keys: Keys): Promise<DriverEnd[]> {
    const plans = planDrivers(this.options, this.endpoint, blocks, keys);
    this.threads = new DriverThreads(plans, (thread, posted) => {
      for (const row of this.timeline.add(thread, posted))
        if (row.second !== AFTER_THE_END) this.onSecond(row);
    });
    await this.threads.ready;
    const startMs = nowMs() + LEAD_MS;
    const measureMs = startMs + 1000 * this.options.warmUpSeconds;
    const endMs = measureMs + 1000 * this.options.durationSeconds;
    this.times = {startMs, measureMs, endMs};
    const ended = this.threads.start(this.times);
    // stop() was called before the threads existed.
    if (this.stopMs < Number.POSITIVE_INFINITY) this.stop();
    let atStart = process.cpuUsage();
    const {url, headers = {}, timeoutMs} = this.options;
    const onStart = () => {
      this.usageAtStart = readUsage(url, headers, timeoutMs);
      atStart = process.cpuUsage();
      this.listener?.onMeasureStart();
    };
    const onEnd = () => {
      const {user, system} = process.cpuUsage(atStart);
      this.cpuMs = (user + system) / 1000;
      this.usageAtEnd = readUsage(url, headers, timeoutMs);
      this.listener?.onMeasureEnd();
    };
    const timers = [
      setTimeout(onStart, Math.max(0, measureMs - nowMs())),
      setTimeout(onEnd, endMs - nowMs()),
    ];
    const ends = await ended;
    for (const timer of timers) clearTimeout(timer);
    if (this.cpuMs === undefined) onEnd();
    return ends;
  }
}
