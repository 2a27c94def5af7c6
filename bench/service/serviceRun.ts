/**
 * Other costs of a running proofd, and what one client's load does to other clients.
 *
 * The latency of the other clients is that of single proofs at a steady rate (open loop). So a stall shows in all requests
 * that it delays. The bench works on a copy of the bench store (npm run bench), which is removed at the end.
 */
import {rmSync} from "node:fs";
import {join} from "node:path";
import {readOrigin, writeOrigin} from "../program/machine.ts";
import {BENCH_FOLDER, writeRun} from "../program/runFile.ts";
import {writeNumber, writeTable} from "../program/table.ts";
import {copyStore} from "../served/storeCopy.ts";
import {keepBenchStore} from "../stages/benchStore.ts";
import {measureManyClients, measureMemory} from "./busyService.ts";
import {measureFeed} from "./feedBench.ts";
import {measureIdleConnections} from "./idleConnections.ts";
import {measureImport} from "./importBeside.ts";
import {measureTail} from "./latencyTail.ts";
import {measureLoopingClients} from "./loopingClients.ts";
import {measurePull} from "./pullBeside.ts";
import type {Finding, ServiceBench} from "./serviceBench.ts";
import {measureSlowReader} from "./slowReader.ts";

export type PartName =
  | "memory"
  | "tail"
  | "clients"
  | "loops"
  | "reader"
  | "idle"
  | "import"
  | "pull"
  | "feed";

/** Commander's values, by flag. */
export interface ServiceFlags {
  readonly accounts: number;
  /** Seconds. */
  readonly duration: number;
  /** Requests per second. */
  readonly rate: number;
  readonly only: readonly PartName[];
}

const PARTS: Readonly<Record<PartName, (bench: ServiceBench) => Promise<Finding[]>>> = {
  memory: measureMemory,
  tail: measureTail,
  clients: measureManyClients,
  loops: measureLoopingClients,
  reader: measureSlowReader,
  idle: measureIdleConnections,
  import: measureImport,
  pull: measurePull,
  feed: measureFeed,
};

/** @param command - the command line that repeats this run */
export async function measureService(
  {accounts, duration, rate, only}: ServiceFlags,
  command: string,
): Promise<void> {
  const options = {accounts, durationSeconds: duration, rate};
  const machine = readOrigin();
  const heading = `${writeOrigin(machine)}; ${command}`;
  process.stderr.write(`${heading}\n`);
  const kept = await keepBenchStore(accounts);
  const directory = join(BENCH_FOLDER, `service-${accounts}.work`);
  const findings: Finding[] = [];
  try {
    for (const part of only) {
      process.stderr.write(`${part} ...\n`);
      copyStore(kept, directory);
      findings.push(
        ...(await PARTS[part]({...options, keys: {kind: "numbered", count: accounts}, directory})),
      );
    }
  } finally {
    rmSync(directory, {recursive: true, force: true});
  }
  const rows = findings.map(({figure, value, unit}) => [
    figure,
    unit === "x" ? `x ${writeNumber(value)}` : `${writeNumber(value)} ${unit}`.trim(),
  ]);
  process.stdout.write(`\n${heading}, ${accounts} accounts\n\n${writeTable(["figure", ""], rows, 1)}\n`);
  const file = writeRun(`service-${accounts}`, machine, {command, ...options, findings});
  process.stderr.write(`wrote ${file}\n`);
}
