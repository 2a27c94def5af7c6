/**
 * `npm run bench:service`: what else a running proofd costs, and what one client's load does to the others.
 *
 * Others' latency is that of single proofs at a steady rate (open loop): a stall shows in all the requests it delays.
 * Works on a copy of the bench store (npm run bench), which is removed at the end.
 */
import {rmSync} from "node:fs";
import {join} from "node:path";
import {describeMachine, writeMachine} from "../served/machine.ts";
import {writeRun} from "../served/runFile.ts";
import {startProofd} from "../served/serverProcess.ts";
import {copyStore} from "../served/storeCopy.ts";
import {writeTable} from "../served/table.ts";
import {BENCH_FOLDER, keepBenchStore} from "../stages/benchStore.ts";
import {type FlagTable, parseCount, parseNames, runProgram} from "../stages/flags.ts";
import {measureEstimates, measureManyClients, measureMemory} from "./busyService.ts";
import {type Finding, type ServiceBench, writeFinding} from "./finding.ts";
import {measureIdleConnections} from "./idleConnections.ts";
import {measureImport} from "./importBeside.ts";
import {measureLoopingClients} from "./loopingClients.ts";
import {measureSlowReader} from "./slowReader.ts";

const PARTS = {
  memory: measureMemory,
  clients: measureManyClients,
  estimates: measureEstimates,
  loops: measureLoopingClients,
  reader: measureSlowReader,
  idle: measureIdleConnections,
  import: measureImport,
};
const PART_NAMES = Object.keys(PARTS) as (keyof typeof PARTS)[];

const FLAGS = {
  accounts: {value: "N", default: "1M", about: "accounts of the bench store, such as 100k or 1M"},
  duration: {value: "SECONDS", default: "5", about: "measured time of each load"},
  rate: {value: "REQUESTS/S", default: "300", about: "pace of the single proofs whose latency is watched"},
  only: {value: "A,B", about: `only these parts: ${PART_NAMES.join(", ")} (default: all)`},
} as const satisfies FlagTable;

await runProgram(
  {
    command: "npm run bench:service --",
    about: "Measures memory, and what one client's load does to the others; prints a table, writes JSON.",
    flags: FLAGS,
  },
  texts =>
    measureService(
      {
        accounts: parseCount("accounts", texts.accounts, 1000, 10_000_000, ", such as 100k or 1M"),
        durationSeconds: parseCount("duration", texts.duration, 1, 600),
        rate: parseCount("rate", texts.rate, 1, 100_000),
      },
      parseNames("only", texts.only, PART_NAMES) ?? PART_NAMES,
    ),
);

async function measureService(
  options: Pick<ServiceBench, "accounts" | "durationSeconds" | "rate">,
  parts: readonly (keyof typeof PARTS)[],
): Promise<void> {
  const {accounts} = options;
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
        ...options,
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
  const file = writeRun(`service-${accounts}`, machine, {...options, findings});
  process.stderr.write(`wrote ${file}\n`);
}
