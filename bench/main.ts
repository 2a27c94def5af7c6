/**
 * `npm run bench -- [--accounts N] [--time MS]`: makes the store, runs the suites, prints a table.
 */
import {execFileSync} from "node:child_process";
import {availableParallelism} from "node:os";
import {parseArgs} from "node:util";
import {LEAF_WRITES_PER_BLOCK, openBenchStore} from "./benchStore.ts";
import {addEstimateTasks} from "./estimate.bench.ts";
import {CALLS_PER_TASK, createProofBench} from "./proof.bench.ts";

const CACHE_BYTES = 64 << 20;
const MAX_ACCOUNTS = 10_000_000;

const {values} = parseArgs({
  options: {accounts: {type: "string", default: "100000"}, time: {type: "string", default: "2000"}},
});
const accounts = parseCount("--accounts", values.accounts, MAX_ACCOUNTS);
const timeMs = parseCount("--time", values.time, 600_000);

const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], {encoding: "utf8"}).trim();
process.stdout.write(
  `Node ${process.versions.node}, ${availableParallelism()} cores, commit ${commit}, ${accounts} accounts\n\n`,
);

const benchStore = await openBenchStore(accounts, CACHE_BYTES);
const {commits} = benchStore;
if (commits !== undefined) {
  const {bulkSeconds, blockMs, bytesPerLeafWrite} = commits;
  process.stdout.write(
    `block 0: ${bulkSeconds.toFixed(1)} s; blocks of ${LEAF_WRITES_PER_BLOCK} leaf writes: ${blockMs.toFixed(1)} ms each, ` +
      `${Math.round((LEAF_WRITES_PER_BLOCK / blockMs) * 1000)} leaf writes/s, ${Math.round(bytesPerLeafWrite)} bytes per leaf write\n\n`,
  );
}

const bench = createProofBench(benchStore, accounts, timeMs);
addEstimateTasks(bench, benchStore.store);
await bench.run();
const rows = bench.tasks.map(task => {
  const {result} = task;
  if (!("latency" in result)) throw new Error(`${task.name}: ${result.state}`);
  const units = task.name.startsWith("prove") ? CALLS_PER_TASK : 1;
  const {p50, p99, rme} = result.latency;
  return [
    task.name,
    `${((p50 / units) * 1000).toFixed(2)}`,
    `${((p99 / units) * 1000).toFixed(2)}`,
    `±${rme.toFixed(1)}%`,
    `${Math.round((units / p50) * 1000)}`,
  ];
});
for (const row of [["task", "median us", "p99 us", "error", "per s"], ...rows])
  process.stdout.write(`${row.map((cell, i) => (i === 0 ? cell.padEnd(40) : cell.padStart(11))).join("")}\n`);
await benchStore.store.close();

function parseCount(flag: string, text: string, most: number): number {
  const count = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  if (count >= 1 && count <= most) return count;
  process.stderr.write(`error: ${flag} is '${text}': expected a whole number from 1 to ${most}\n`);
  process.exit(2);
}
