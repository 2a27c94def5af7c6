/** Measures memory, idle and under load, and many clients at once. */
import {setTimeout as sleep} from "node:timers/promises";
import {measureLoad, p99Ms, requireRight} from "../served/measuredLoad.ts";
import {SCENARIOS} from "../served/scenarios.ts";
import {type Finding, MB, MemoryWatch, type ServiceBench, warmUp, withServer} from "./serviceBench.ts";

const IDLE_MS = 2000;

export function measureMemory(bench: ServiceBench): Promise<Finding[]> {
  return withServer(bench, [], async server => {
    await sleep(IDLE_MS);
    const idle = server.readMemory();
    const watch = new MemoryWatch(server);
    const {keys, durationSeconds} = bench;
    const {report} = await measureLoad(server, {keys, ...SCENARIOS.batch.choice, durationSeconds});
    requireRight(report);
    const busy = watch.stop();
    return [
      {figure: "RSS, idle", value: idle.rss / MB, unit: "MB"},
      {figure: `RSS, ${SCENARIOS.batch.title}`, value: busy.rss / MB, unit: "MB"},
      {figure: "... without files", value: busy.anonymous / MB, unit: "MB"},
      {figure: "... proofs per second", value: report.perSecond.proofs, unit: "/s"},
    ];
  });
}

export function measureManyClients(bench: ServiceBench): Promise<Finding[]> {
  return withServer(bench, [], async server => {
    await warmUp(server, bench);
    const watch = new MemoryWatch(server);
    const {keys, durationSeconds} = bench;
    const {title, choice} = SCENARIOS.clients;
    const {report, serverCpuMsPerSecond} = await measureLoad(server, {keys, ...choice, durationSeconds});
    requireRight(report);
    const {requests} = report.perSecond;
    return [
      {figure: `${title}: requests per second`, value: requests, unit: "/s"},
      {figure: "... p99", value: p99Ms(report), unit: "ms"},
      {figure: "... server CPU per request", value: (serverCpuMsPerSecond * 1000) / requests, unit: "us"},
      {figure: "... requests that failed", value: report.requests.failed, unit: ""},
      {figure: "... RSS", value: watch.stop().rss / MB, unit: "MB"},
    ];
  });
}
