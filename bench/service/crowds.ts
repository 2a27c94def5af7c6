/** What one client of single proofs sees while clients of many addresses ask for all that is legal: attack, addresses, both fronts. */
import {setTimeout as sleep} from "node:timers/promises";
import {Worker} from "node:worker_threads";
import {LoadError, type LoadReport, numberedAddress} from "proofd-load";
import {measureLoad} from "../program/measuredLoad.ts";
import type {ServerProcess} from "../program/serverProcess.ts";
import {writeNumber, writeTable} from "../program/table.ts";
import type {Crowd} from "./crowdAddresses.ts";
import {type Finding, type Scenario, withServer} from "./scenario.ts";

const THREAD = new URL("crowdAddresses.js", import.meta.url);
const ADDRESSES = [0, 4, 20, 200];
const CONNECTIONS = 6;
const FRONTS = ["uws", "node"];
/** Requests per second of the client that is watched. */
const RATE = 50;
/** Until the queues are full. */
const SETTLE_MS = 1500;
const KEYS = 2000;
const BATCH = 1000;

/** What each connection loops, by name. */
const ATTACKS: Readonly<Record<string, (accounts: number) => unknown>> = {
  [`multiproofs of ${KEYS} accounts`]: accounts => {
    const entries = Array.from({length: KEYS}, (_, i) => ({address: numbered(i, accounts), storageKeys: []}));
    return createCall("chain_getMultiProof", [entries, "latest"]);
  },
  [`batches of ${BATCH} proofs`]: accounts =>
    Array.from({length: BATCH}, (_, i) =>
      createCall("chain_getProof", [numbered(i, accounts), [], "latest"]),
    ),
  "single proofs": accounts => createCall("chain_getProof", [numbered(1, accounts), [], "latest"]),
};

/** Writes a table of its own. */
export async function measureCrowds(scenario: Scenario): Promise<Finding[]> {
  const {keys, durationSeconds, accounts} = scenario;
  const rows: string[][] = [];
  for (const front of FRONTS)
    await withServer(scenario, ["--estimate-workers", "0", "--http", front], async server => {
      for (const [attack, createBody] of Object.entries(ATTACKS))
        for (const addresses of ADDRESSES) {
          const end = await startCrowd(server, addresses, JSON.stringify(createBody(accounts)));
          const choice = {keys, connections: 4, rate: RATE, verify: 0, durationSeconds};
          const report = await measureLoad(server, choice).then(
            load => load.report,
            // The load could not begin, because its first request had no answer for 30 s.
            (error: unknown) => (error instanceof LoadError ? undefined : Promise.reject(error)),
          );
          await end();
          rows.push([attack, front, String(addresses), ...writeReport(report)]);
          process.stderr.write(`${rows.at(-1)?.join(", ")}\n`);
        }
      return [];
    });
  const names = [
    "each connection loops",
    "--http",
    "addresses",
    "p50 ms",
    "p99 ms",
    "answered",
    "refused or failed",
  ];
  const title = `One client asks for ${RATE} single proofs a second; of each address ${CONNECTIONS} connections ask for more.`;
  process.stdout.write(`\n${title}\n\n${writeTable(names, rows, 2)}\n`);
  return [];
}

function writeReport(report: LoadReport | undefined): string[] {
  if (report === undefined) return ["-", "-", "0", "all"];
  const {latency, requests, calls} = report;
  return [latency?.p50Ms, latency?.p99Ms, requests.answered, calls.errors + requests.failed].map(writeNumber);
}

/** @returns what ends it */
async function startCrowd(
  {url}: ServerProcess,
  addresses: number,
  body: string,
): Promise<() => Promise<void>> {
  const crowd: Crowd = {port: Number(url.port), addresses, connections: CONNECTIONS, body};
  const thread = new Worker(THREAD, {workerData: crowd});
  await sleep(SETTLE_MS);
  return async () => {
    await thread.terminate();
    await sleep(SETTLE_MS);
  };
}

function numbered(i: number, accounts: number): string {
  return `0x${numberedAddress(i % accounts)}`;
}

function createCall(method: string, params: readonly unknown[]): unknown {
  return {jsonrpc: "2.0", id: 1, method, params};
}
