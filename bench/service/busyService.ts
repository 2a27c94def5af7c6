/** Measures memory, idle and under load, and many clients at once. */
import {measureLoad, p99Ms, requireRight} from "../served/measuredLoad.ts";
import {SCENARIOS} from "../served/scenarios.ts";
import type {Finding, ServiceBench} from "./finding.ts";
import {inMb, MemoryWatch, sleep, warmUp} from "./watch.ts";

const IDLE_MS = 2000;

export async function measureMemory(bench: ServiceBench): Promise<Finding[]> {
  const server = await bench.startServer();
  try {
    await sleep(IDLE_MS);
    const idle = server.readMemory();
    const watch = new MemoryWatch(server);
    const {keys, durationSeconds} = bench;
    const {report} = await measureLoad(server, {keys, ...SCENARIOS.batch.choice, durationSeconds});
    requireRight(report);
    const busy = watch.stop();
    return [
      {figure: "RSS, idle", value: inMb(idle?.rss), unit: "MB"},
      {figure: `RSS, ${SCENARIOS.batch.title}`, value: inMb(busy.rss), unit: "MB"},
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
    const {keys, durationSeconds} = bench;
    const {title, choice} = SCENARIOS.clients;
    const {report, serverCpuMsPerSecond} = await measureLoad(server, {keys, ...choice, durationSeconds});
    requireRight(report);
    const {requests} = report.perSecond;
    const cpuUs = serverCpuMsPerSecond === undefined ? undefined : (serverCpuMsPerSecond * 1000) / requests;
    return [
      {figure: `${title}: requests per second`, value: requests, unit: "/s"},
      {figure: "... p99", value: p99Ms(report), unit: "ms"},
      {figure: "... server CPU per request", value: cpuUs, unit: "us"},
      {figure: "... requests that failed", value: report.requests.failed, unit: ""},
      {figure: "... RSS", value: inMb(watch.stop().rss), unit: "MB"},
    ];
  } finally {
    await server.stop();
  }
}
