/**
 * Estimates of transfers while other clients ask for endless loops. All come from one address, which is the harder case:
 * clients with different addresses take turns.
 */
import type {LoadOptions} from "../load/loadOptions.ts";
import {startLoad} from "../load/loadRun.ts";
import {createLoad, measureLoad} from "../served/measuredLoad.ts";
import type {ServerProcess} from "../served/serverProcess.ts";
import type {Finding, ServiceBench} from "./finding.ts";
import {p99Ms, sleep, warmUp} from "./watch.ts";

const LOOP = `0x${"99".repeat(20)}`;
/** Parameters of a call of chain_estimateGas that never ends: JUMPDEST PUSH1 0 JUMP, as the code of a made-up account. */
export const ENDLESS = JSON.stringify([{to: LOOP}, "latest", {[LOOP]: {code: "0x5b600056"}}]);
const LOOPING_CONNECTIONS = 64;
const MAX_P99_MS = 250;
/** Transfers per second: a thread needs a twentieth of its time for them. */
const TRANSFER_RATE = 100;
/** Time until all loops wait and the first are refused. */
const SETTLE_MS = 3000;
const BATCH = 100;
const BATCH_CONNECTIONS = 4;

export async function measureLoopingClients(bench: ServiceBench): Promise<Finding[]> {
  const server = await bench.startServer();
  try {
    await warmUp(server, bench);
    const keys = {kind: "numbered", count: bench.accounts} as const;
    const {durationSeconds} = bench;
    const batches = {
      keys,
      estimates: 1,
      connections: BATCH_CONNECTIONS,
      batch: BATCH,
      durationSeconds,
      warmUpSeconds: 2,
    };
    const batched = await measureLoad(server, batches);
    const cpuUs = batched.serverCpuMsPerSecond;
    const loops = startLoad(createLoops(server, bench), () => {});
    await sleep(SETTLE_MS);
    const transfers = await measureLoad(server, {
      keys,
      estimates: 1,
      rate: TRANSFER_RATE,
      durationSeconds,
      verify: 0,
    });
    loops.stop();
    const ended = await loops.outcome;
    if (ended.calls.results > 0) throw new Error("an endless call got an estimate");
    const {report} = transfers;
    return [
      {
        figure: `transfers in batches of ${BATCH}: server CPU per estimate`,
        value: cpuUs === undefined ? undefined : (cpuUs * 1000) / batched.report.perSecond.calls,
        unit: "us",
      },
      {figure: "... estimates per second", value: batched.report.perSecond.calls, unit: "/s"},
      {
        figure: `p99 of a transfer's estimate during endless loops from ${LOOPING_CONNECTIONS} connections`,
        value: p99Ms(report),
        unit: "ms",
        atMost: MAX_P99_MS,
      },
      {
        figure: "... transfers without an estimate",
        value: report.calls.errors + report.requests.failed,
        unit: "",
        atMost: 0,
      },
      {figure: "... endless loops asked for", value: ended.requests.due, unit: ""},
    ];
  } finally {
    await server.stop();
  }
}

/** The loops wait as long as the server does, and ask again at once when they are refused. */
function createLoops(server: ServerProcess, {accounts, durationSeconds}: ServiceBench): LoadOptions {
  return createLoad(server, {
    keys: {kind: "numbered", count: accounts},
    connections: LOOPING_CONNECTIONS,
    estimates: 1,
    estimateParams: [ENDLESS],
    warmUpSeconds: 0,
    durationSeconds: 100 * durationSeconds,
    timeoutMs: 60_000,
    verify: 0,
  });
}
