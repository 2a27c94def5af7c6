/** Memory under load, and tail latency, without other clients. */
import {setTimeout as sleep} from "node:timers/promises";
import {measureLoad, requireRight} from "../program/measuredLoad.ts";
import {SCENARIOS} from "../program/scenarios.ts";
import {type Finding, MB, type Scenario, withServer} from "./scenario.ts";

const IDLE_MS = 2000;
const SAMPLE_MS = 50;

export function measureMemory(scenario: Scenario): Promise<Finding[]> {
  return withServer(scenario, [], async server => {
    await sleep(IDLE_MS);
    const findings: Finding[] = [{figure: "RSS, idle", value: server.readMemory().rss / MB, unit: "MB"}];
    for (const {title, choice} of [SCENARIOS.batch, SCENARIOS.clients]) {
      let [rss, anonymous] = [0, 0];
      const timer = setInterval(() => {
        const now = server.readMemory();
        [rss, anonymous] = [Math.max(rss, now.rss), Math.max(anonymous, now.anonymous)];
      }, SAMPLE_MS);
      const {keys, durationSeconds} = scenario;
      const {report} = await measureLoad(server, {keys, ...choice, durationSeconds});
      clearInterval(timer);
      requireRight(report);
      findings.push(
        {figure: `RSS, ${title}`, value: rss / MB, unit: "MB"},
        {figure: "... without files", value: anonymous / MB, unit: "MB"},
        {figure: "... proofs", value: report.perSecond.proofs, unit: "/s"},
      );
    }
    return findings;
  });
}

export function measureTail(scenario: Scenario): Promise<Finding[]> {
  return withServer(scenario, [], async server => {
    const {keys, rate, durationSeconds} = scenario;
    const choice = {...SCENARIOS.account.choice, keys, rate, durationSeconds};
    const {report, serverCpuMsPerSecond} = await measureLoad(server, choice);
    requireRight(report);
    const {latency, requests, generator} = report;
    const cpuUs = (serverCpuMsPerSecond * 1000 * durationSeconds) / requests.answered;
    const first = `${rate} single proofs a second, ${choice.connections} connections: p50`;
    const figures: readonly (readonly [string, number | undefined])[] = [
      [first, latency?.p50Ms],
      ["... p99", latency?.p99Ms],
      ["... p99.9", latency?.p999Ms],
      ["... longest", latency?.maxMs],
      ["... p99.9 of the generator's delay", generator.sendLag?.p999Ms],
    ];
    return [
      ...figures.map(([figure, value = Number.NaN]): Finding => ({figure, value, unit: "ms"})),
      {figure: "... CPU time of the server, each", value: cpuUs, unit: "us"},
    ];
  });
}
