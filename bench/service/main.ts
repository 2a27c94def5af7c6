/**
 * `npm run bench:service`: what else a running proofd costs, and what one client's load does to the others.
 *
 * Others' latency is that of single proofs at a steady rate (open loop): a stall shows in all the requests it delays.
 * Works on a copy of the bench store (npm run bench), which is removed at the end.
 */
import {rmSync} from "node:fs";
import {join} from "node:path";
import {parseArgs} from "node:util";
import {BENCH_FOLDER, keepBenchStore} from "../benchStore.ts";
import {parseCount, parseList} from "../served/flags.ts";
import {describeMachine, writeMachine} from "../served/machine.ts";
import {writeRun} from "../served/runFile.ts";
import {startProofd} from "../served/serverProcess.ts";
import {copyStore} from "../served/storeCopy.ts";
import {writeTable} from "../served/table.ts";
import {measureEstimates, measureManyClients, measureMemory} from "./busyService.ts";
import {type Finding, type ServiceBench, writeFinding} from "./finding.ts";
import {measureIdleConnections} from "./idleConnections.ts";
import {measureImport} from "./importBeside.ts";
import {measureSlowReader} from "./slowReader.ts";

const PARTS = {
  memory: measureMemory,
  clients: measureManyClients,
  estimates: measureEstimates,
  reader: measureSlowReader,
  idle: measureIdleConnections,
  import: measureImport,
};
const PART_NAMES = Object.keys(PARTS) as (keyof typeof PARTS)[];

const {values} = parseArgs({
  options: {
    accounts: {type: "string", default: "1M"},
    duration: {type: "string", default: "5"},
    rate: {type: "string", default: "300"},
    only: {type: "string"},
  },
});
const accounts = parseCount("--accounts", values.accounts, 1000, 10_000_000);
const durationSeconds = parseCount("--duration", values.duration, 1, 600);
const rate = parseCount("--rate", values.rate, 1, 100_000);
const parts = parseList("--only", values.only, PART_NAMES);

const machine = describeMachine("bench:service");
process.stderr.write(`${writeMachine(machine)}\n`);
const kept = await keepBenchStore(accounts);
const directory = join(BENCH_FOLDER, `service-${accounts}.work`);
const findings: Finding[] = [];
try {
  for (const part of parts) {
    process.stderr.write(`${part} ...\n`);
    copyStore(kept, directory);
    const bench: ServiceBench = {
      accounts,
      durationSeconds,
      rate,
      directory,
      startServer: (args = []) => startProofd(directory, args),
    };
    findings.push(...(await PARTS[part](bench)));
  }
} finally {
  rmSync(directory, {recursive: true, force: true});
}
const rows = findings.map(writeFinding);
process.stdout.write(
  `\n${writeMachine(machine)}, ${accounts} accounts\n\n${writeTable([["figure", "", "target", ""], ...rows])}\n`,
);
const file = writeRun(`service-${accounts}`, machine, {accounts, durationSeconds, rate, findings});
process.stderr.write(`wrote ${file}\n`);
