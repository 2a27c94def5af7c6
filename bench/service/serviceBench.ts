/** What the parts of the service's bench share: a server of their own, what other clients see, and the memory it takes. */
import {createHash} from "node:crypto";
import type {LoadReport} from "proofd-load";
import type {LoadChoice} from "../served/measuredLoad.ts";
import {measureLoad, p99Ms, requireRight} from "../served/measuredLoad.ts";
import {type Memory, type ServerProcess, startProofd} from "../served/serverProcess.ts";

export interface ServiceBench {
  readonly accounts: number;
  readonly keys: LoadChoice["keys"];
  readonly durationSeconds: number;
  /** Single proofs per second. Their latency is measured. */
  readonly rate: number;
  /** Folder of the store, which is a copy. */
  readonly directory: string;
}

export interface Finding {
  readonly figure: string;
  readonly value: number;
  readonly unit: "MB" | "s" | "ms" | "x" | "us" | "/s" | "/min" | "bytes" | "";
}

const SAMPLE_MS = 50;
const CONNECTIONS = 16;
export const MB = 1e6;

/** Runs `work` with a server of its own. @param args - flags of `proofd serve`. @param traced - as for startProofd */
export async function withServer(
  {directory}: ServiceBench,
  args: readonly string[],
  work: (server: ServerProcess) => Promise<Finding[]>,
  traced?: (text: string) => void,
): Promise<Finding[]> {
  const server = await startProofd(directory, args, traced);
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

/** The first seconds of a process are slower: code is compiled, and pages are read for the first time. */
export async function warmUp(server: ServerProcess, {keys}: ServiceBench): Promise<void> {
  await measureLoad(server, {keys, batch: 20, durationSeconds: 2, verify: 0});
}

/** Samples the memory of a process and keeps the largest values. */
export class MemoryWatch {
  private rss = 0;
  private anonymous = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly server: ServerProcess) {
    this.timer = setInterval(() => this.sample(), SAMPLE_MS);
  }

  /** @returns the largest values since it was created */
  stop(): Memory {
    clearInterval(this.timer);
    this.sample();
    return {rss: this.rss, anonymous: this.anonymous};
  }

  private sample(): void {
    const {rss, anonymous} = this.server.readMemory();
    this.rss = Math.max(this.rss, rss);
    this.anonymous = Math.max(this.anonymous, anonymous);
  }
}

/** p99 of single proofs in milliseconds, alone and while something else happens. */
interface Comparison {
  readonly alone: number;
  readonly beside: number;
  readonly ratio: number;
}

/**
 * Measures both kinds in turns, because the speed of a shared machine changes meanwhile:
 *
 *   alone | begin, beside, end | alone | begin, beside, end | alone        means of each kind
 *
 * @param begin - begins a disturbance. @returns what ends it
 */
export async function compareProofs(
  server: ServerProcess,
  bench: ServiceBench,
  passes: number,
  begin: () => Promise<() => Promise<void>>,
): Promise<Comparison> {
  const alone = [await watchProofs(server, bench)];
  const disturbed: LoadReport[] = [];
  for (let pass = 0; pass < passes; pass++) {
    const end = await begin();
    disturbed.push(await watchProofs(server, bench));
    await end();
    alone.push(await watchProofs(server, bench));
  }
  const beside = meanP99Ms(disturbed);
  return {alone: meanP99Ms(alone), beside, ratio: beside / meanP99Ms(alone)};
}

/** Single proofs at the bench's rate. @throws Error if one is wrong */
async function watchProofs(server: ServerProcess, bench: ServiceBench): Promise<LoadReport> {
  const {keys, rate, durationSeconds} = bench;
  const {report} = await measureLoad(server, {keys, connections: CONNECTIONS, rate, durationSeconds});
  requireRight(report);
  return report;
}

function meanP99Ms(reports: readonly LoadReport[]): number {
  return reports.reduce((sum, report) => sum + p99Ms(report), 0) / reports.length;
}

export async function readLatest(server: ServerProcess): Promise<number> {
  const {latest} = (await server.call("chain_getCoverage")) as {latest: string};
  return Number(latest);
}

/** A line of --diffs. @param accounts - members of the JSON object `accounts` */
export function writeBlock(number: number, isFinalized: boolean, accounts: readonly string[]): string {
  const quantity = (n: number) => `"0x${n.toString(16)}"`;
  const hash = createHash("sha256").update(`block ${number}`).digest("hex");
  const finalized = isFinalized ? `"finalized":${quantity(number)},` : "";
  return (
    `{"number":${quantity(number)},"hash":"0x${hash}","timestamp":${quantity(1_700_000_000 + number)},` +
    `"gasLimit":"0x3938700",${finalized}"accounts":{${accounts}}}\n`
  );
}
