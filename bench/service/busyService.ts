/** Measures memory idle and under load, many clients at once, and proofs during hostile estimates. */
import type {LoadOptions} from "../load/loadOptions.ts";
import {type RunningLoad, startLoad} from "../load/loadRun.ts";
import {createLoad, measureLoad, requireRight} from "../served/measuredLoad.ts";
import type {ServerProcess} from "../served/serverProcess.ts";
import type {Finding, ServiceBench} from "./finding.ts";
import {ENDLESS} from "./loopingClients.ts";
import {compareProofs, MB, MemoryWatch, p99Ms, sleep, warmUp} from "./watch.ts";

const IDLE_MS = 2000;
const CLIENTS = 1000;
const HOSTILE_CONNECTIONS = 32;
/** After this time a hostile connection is cut and asks again, so that nothing is left to wait for at the end. */
const HOSTILE_PATIENCE_MS = 3000;
const PASSES = 2;

export async function measureMemory(bench: ServiceBench): Promise<Finding[]> {
  const server = await bench.startServer();
  try {
    await sleep(IDLE_MS);
    const idle = server.readMemory();
    const watch = new MemoryWatch(server);
    const keys = {kind: "numbered", count: bench.accounts} as const;
    const {durationSeconds} = bench;
    const {report} = await measureLoad(server, {keys, connections: 16, batch: 100, durationSeconds});
    requireRight(report);
    const busy = watch.stop();
    return [
      {figure: "RSS, idle", value: inMb(idle?.rss), unit: "MB", atMost: 150},
      {figure: "RSS, batches of 100 at 16 connections", value: inMb(busy.rss), unit: "MB", atMost: 600},
      {figure: "... without files", value: inMb(busy.anonymous), unit: "MB"},
      {figure: "... proofs per second", value: report.perSecond.proofs, unit: "/s"},
    ];
  } finally {
    await server.stop();
  }
}

export async function measureManyClients(bench: ServiceBench): Promise<Finding[]> {
  const server = await bench.startServer();
  try {
    await warmUp(server, bench);
    const watch = new MemoryWatch(server);
    const {accounts, durationSeconds} = bench;
    const keys = {kind: "numbered", count: accounts} as const;
    const {report, serverCpuMsPerSecond} = await measureLoad(server, {
      keys,
      connections: CLIENTS,
      durationSeconds,
    });
    requireRight(report);
    const {requests} = report.perSecond;
    const cpuUs = serverCpuMsPerSecond === undefined ? undefined : (serverCpuMsPerSecond * 1000) / requests;
    return [
      {figure: `${CLIENTS} connections, one call each: requests per second`, value: requests, unit: "/s"},
      {figure: "... p99", value: p99Ms(report), unit: "ms"},
      {figure: "... server CPU per request", value: cpuUs, unit: "us"},
      {figure: "... requests that failed", value: report.requests.failed, unit: "", atMost: 0},
      {figure: "... RSS", value: inMb(watch.stop().rss), unit: "MB"},
    ];
  } finally {
    await server.stop();
  }
}

export async function measureEstimates(bench: ServiceBench): Promise<Finding[]> {
  const server = await bench.startServer();
  try {
    await warmUp(server, bench);
    let hostile: RunningLoad | undefined;
    let ended = 0;
    const {alone, beside, ratio} = await compareProofs(server, bench, {
      begin: () => {
        hostile = startLoad(createHostileLoad(server, bench), () => {});
      },
      end: async () => {
        if (hostile === undefined) throw new Error("it has not begun");
        hostile.stop();
        const {calls, requests} = await hostile.outcome;
        if (calls.results > 0) throw new Error("an endless call got an estimate");
        ended += requests.due;
      },
      passes: PASSES,
    });
    return [
      {figure: "p99 of single proofs, nothing else", value: alone, unit: "ms"},
      {
        figure: `p99 of single proofs during endless estimates at ${HOSTILE_CONNECTIONS} connections`,
        value: beside,
        unit: "ms",
      },
      {figure: "... ratio", value: ratio, unit: "x"},
      {figure: "... endless estimates asked for", value: ended, unit: ""},
    ];
  } finally {
    await server.stop();
  }
}

/** More than the threads can do: each estimate holds a thread for the two seconds that it may take. */
function createHostileLoad(server: ServerProcess, {accounts, durationSeconds}: ServiceBench): LoadOptions {
  return createLoad(server, {
    keys: {kind: "numbered", count: accounts},
    connections: HOSTILE_CONNECTIONS,
    estimates: 1,
    estimateParams: [ENDLESS],
    warmUpSeconds: 0,
    durationSeconds: 10 * durationSeconds,
    timeoutMs: HOSTILE_PATIENCE_MS,
    verify: 0,
  });
}

function inMb(bytes: number | undefined): number | undefined {
  return bytes === undefined ? undefined : bytes / MB;
}
