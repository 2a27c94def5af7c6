/** Shared by the scenarios: starting a server, measuring the latency of other clients, and making blocks. */
import {createHash} from "node:crypto";
import {setTimeout as sleep} from "node:timers/promises";
import {type LoadReport, numberedAddress} from "proofd-load";
import {type LoadChoice, measureLoad, p99Ms, requireRight} from "../program/measuredLoad.ts";
import {type ServerProcess, startProofd} from "../program/serverProcess.ts";

export interface Scenario {
  readonly accounts: number;
  readonly keys: LoadChoice["keys"];
  readonly durationSeconds: number;
  /** Rate of the single proofs whose latency is measured. */
  readonly rate: number;
  /** Temporary folder, removed at the end. */
  readonly folder: string;
  /** A copy of the bench store in `folder`. */
  readonly store: string;
}

export interface Finding {
  readonly figure: string;
  readonly value: number;
  readonly unit: "MB" | "s" | "ms" | "x" | "us" | "/s" | "";
}

const CONNECTIONS = 16;
const LOOK_MS = 10;
const STALL_MS = 60_000;
export const MB = 1e6;

/** Runs `work` with a new server after a warm-up of two seconds. */
export async function withServer(
  {store, keys}: Scenario,
  args: readonly string[],
  work: (server: ServerProcess) => Promise<Finding[]>,
): Promise<Finding[]> {
  const server = await startProofd(store, args);
  try {
    await measureLoad(server, {keys, batch: 20, durationSeconds: 2, verify: 0});
    return await work(server);
  } finally {
    await server.stop();
  }
}

/**
 * Measures the p99 of single proofs with and without a disturbance, alternating, because the speed of a shared machine
 * changes:
 *
 *   alone | begin, disturbed, end | alone | begin, disturbed, end | alone        the mean of each kind counts
 *
 * @param begin - begins the disturbance, and returns a function that ends it
 */
export async function compareProofs(
  server: ServerProcess,
  scenario: Scenario,
  what: string,
  begin: () => () => Promise<void>,
): Promise<Finding[]> {
  const alone = [await watchProofs(server, scenario)];
  const disturbed: LoadReport[] = [];
  for (let pass = 0; pass < 2; pass++) {
    const end = begin();
    disturbed.push(await watchProofs(server, scenario));
    await end();
    alone.push(await watchProofs(server, scenario));
  }
  const [aloneMs, disturbedMs] = [meanP99Ms(alone), meanP99Ms(disturbed)];
  return [
    {figure: "p99 of single proofs alone", value: aloneMs, unit: "ms"},
    {figure: `... ${what}`, value: disturbedMs, unit: "ms"},
    {figure: "... ratio", value: disturbedMs / aloneMs, unit: "x"},
  ];
}

/** Single proofs at the scenario's rate. @throws Error if an answer is wrong */
async function watchProofs(server: ServerProcess, scenario: Scenario): Promise<LoadReport> {
  const {keys, rate, durationSeconds} = scenario;
  const {report} = await measureLoad(server, {keys, connections: CONNECTIONS, rate, durationSeconds});
  requireRight(report);
  return report;
}

function meanP99Ms(reports: readonly LoadReport[]): number {
  return reports.reduce((sum, report) => sum + p99Ms(report), 0) / reports.length;
}

/** @returns the newest block, or the newest finalized one; -1 if there is none */
export async function readNewest(
  server: ServerProcess,
  which: "latest" | "finalized" = "latest",
): Promise<number> {
  const coverage = (await server.call("chain_getCoverage")) as Readonly<Record<string, string | null>>;
  return Number(coverage[which] ?? -1);
}

/** @throws Error if no new block arrives for STALL_MS */
export async function waitForBlock(server: ServerProcess, block: number): Promise<void> {
  let [newest, sinceMs] = [-1, performance.now()];
  for (let now = newest; now < block; await sleep(LOOK_MS)) {
    // The server answers with an error until it has its first block.
    now = await readNewest(server).catch(() => -1);
    if (now > newest) [newest, sinceMs] = [now, performance.now()];
    if (performance.now() - sinceMs > STALL_MS)
      throw new Error(`expected block ${block}, got ${newest} and none for ${STALL_MS} ms`);
  }
}

/** A line of --diffs: a finalized block that changes `leafWrites` accounts of block 0. */
export function writeBlock(number: number, accounts: number, leafWrites: number): string {
  const quantity = (n: number) => `0x${n.toString(16)}`;
  const changes = Array.from({length: Math.min(leafWrites, accounts)}, (_, i) => {
    // 7919 is prime and does not divide the usual numbers of accounts, so that no account occurs twice.
    const account = (number * 31 + i * 7919) % accounts;
    return [`0x${numberedAddress(account)}`, {nonce: quantity(number)}];
  });
  const block = {
    number: quantity(number),
    hash: `0x${createHash("sha256").update(`block ${number}`).digest("hex")}`,
    timestamp: quantity(1_700_000_000 + number),
    gasLimit: "0x3938700",
    finalized: quantity(number),
    accounts: Object.fromEntries(changes),
  };
  return `${JSON.stringify(block)}\n`;
}
