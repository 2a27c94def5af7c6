/**
 * Measures a running proofd: its memory, and how one client's load affects others.
 *
 * The latency of others is that of single proofs at a constant rate (open loop), in which a stall shows in all delayed
 * requests. Works on a copy of the store of `npm run bench`, which is removed at the end.
 */
import {mkdirSync, rmSync} from "node:fs";
import {join} from "node:path";
import {BENCH_FOLDER, readOrigin, writeOrigin} from "../program/runFile.ts";
import type {ServiceName} from "../program/scenarios.ts";
import {copyStore} from "../program/storeCopy.ts";
import {writeNumber, writeTable} from "../program/table.ts";
import {keepBenchStore} from "../stages/benchStore.ts";
import {measureFeed} from "./feed.ts";
import {measureImport, measureLoops, measurePull} from "./neighbours.ts";
import type {Finding, Scenario} from "./scenario.ts";
import type {ServiceFlags} from "./serviceFlags.ts";
import {measureMemory, measureTail} from "./single.ts";

/** In the order in which they run. */
const MEASURES: Readonly<Record<ServiceName, (scenario: Scenario) => Promise<Finding[]>>> = {
  memory: measureMemory,
  tail: measureTail,
  loops: measureLoops,
  import: measureImport,
  pull: measurePull,
  feed: measureFeed,
};

export async function measureService(
  {accounts, duration, rate, only}: ServiceFlags,
  command: string,
): Promise<void> {
  const heading = `${writeOrigin(readOrigin())}; ${command}`;
  process.stderr.write(`${heading}\n`);
  const kept = await keepBenchStore(accounts);
  const folder = join(BENCH_FOLDER, `service-${accounts}.work`);
  const store = join(folder, "db");
  const keys = {kind: "numbered", count: accounts} as const;
  const findings: Finding[] = [];
  try {
    for (const [name, measure] of Object.entries(MEASURES)) {
      if (!only.includes(name as ServiceName)) continue;
      process.stderr.write(`${name} ...\n`);
      rmSync(folder, {recursive: true, force: true});
      mkdirSync(folder);
      copyStore(kept, store);
      findings.push(...(await measure({accounts, keys, durationSeconds: duration, rate, folder, store})));
    }
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
  const rows = findings.map(({figure, value, unit}) => [
    figure,
    unit === "x" ? `x ${writeNumber(value)}` : `${writeNumber(value)} ${unit}`.trim(),
  ]);
  process.stdout.write(`\n${heading}, ${accounts} accounts\n\n${writeTable(["figure", ""], rows, 1)}\n`);
}
