/** What other clients see, and how much memory the server takes, while something happens. */
import type {LoadReport} from "../load/report/loadReport.ts";
import {measureLoad, p99Ms, requireRight} from "../served/measuredLoad.ts";
import type {Memory, ServerProcess} from "../served/serverProcess.ts";
import type {ServiceBench} from "./finding.ts";

const SAMPLE_MS = 50;
const CONNECTIONS = 16;
export const MB = 1e6;

export function inMb(bytes: number | undefined): number | undefined {
  return bytes === undefined ? undefined : bytes / MB;
}

/** Samples the memory of a process and keeps the largest values. */
export class MemoryWatch {
  rss = 0;
  anonymous = 0;
  private readonly server: ServerProcess;
  private readonly timer: NodeJS.Timeout;

  constructor(server: ServerProcess) {
    this.server = server;
    this.timer = setInterval(() => this.sample(), SAMPLE_MS);
  }

  /** @returns the largest values since it was created */
  stop(): Memory {
    clearInterval(this.timer);
    this.sample();
    return {rss: this.rss, anonymous: this.anonymous};
  }

  private sample(): void {
    const memory = this.server.readMemory();
    this.rss = Math.max(this.rss, memory?.rss ?? 0);
    this.anonymous = Math.max(this.anonymous, memory?.anonymous ?? 0);
  }
}

/** Single proofs at the bench's rate. @throws Error if one is wrong */
async function watchProofs(server: ServerProcess, bench: ServiceBench): Promise<LoadReport> {
  const {keys, rate, durationSeconds} = bench;
  const {report} = await measureLoad(server, {
    keys,
    connections: CONNECTIONS,
    rate,
    durationSeconds,
  });
  requireRight(report);
  return report;
}

/** The first seconds of a process are slower: code is compiled, and pages are read for the first time. */
export async function warmUp(server: ServerProcess, {keys}: ServiceBench): Promise<void> {
  await measureLoad(server, {keys, batch: 20, durationSeconds: 2, verify: 0});
}

/** p99 of single proofs in milliseconds, alone and while something else happens. */
export interface Comparison {
  readonly alone: number | undefined;
  readonly beside: number | undefined;
  readonly ratio: number | undefined;
}

export interface Disturbance {
  readonly begin: () => void | Promise<void>;
  readonly end: () => void | Promise<void>;
  readonly passes: number;
}

/**
 * Measures both kinds in turns, because the speed of a shared machine changes meanwhile:
 *
 *   alone | begin, beside, end | alone | begin, beside, end | alone        means of each kind
 */
export async function compareProofs(
  server: ServerProcess,
  bench: ServiceBench,
  {begin, end, passes}: Disturbance,
): Promise<Comparison> {
  const alone = [await watchProofs(server, bench)];
  const beside: LoadReport[] = [];
  for (let pass = 0; pass < passes; pass++) {
    await begin();
    beside.push(await watchProofs(server, bench));
    await end();
    alone.push(await watchProofs(server, bench));
  }
  const [without, within] = [meanP99Ms(alone), meanP99Ms(beside)];
  return {alone: without, beside: within, ratio: within / without};
}

function meanP99Ms(reports: readonly LoadReport[]): number {
  return reports.reduce((sum, report) => sum + (p99Ms(report) ?? Number.NaN), 0) / reports.length;
}

export function sleep(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms));
}
