/** The slowest of many single proofs at a steady rate, and beside them the collector's pauses, which make most of them. */
import {measureLoad, requireRight} from "../served/measuredLoad.ts";
import {SCENARIOS} from "../served/scenarios.ts";
import {CollectionLog, type Collections} from "./collections.ts";
import {type Finding, type ServiceBench, withServer} from "./serviceBench.ts";

/** The first seconds of a process are slower: its code is compiled, and its pages are read for the first time. */
const WARM_UP_SECONDS = 5;

export function measureTail(bench: ServiceBench): Promise<Finding[]> {
  const log = new CollectionLog();
  const work: Parameters<typeof withServer>[2] = async server => {
    const {keys, rate, durationSeconds} = bench;
    const choice = {...SCENARIOS.account.choice, keys, rate, warmUpSeconds: 0};
    await measureLoad(server, {...choice, durationSeconds: WARM_UP_SECONDS, verify: 0});
    log.restart();
    const {report, serverCpuMsPerSecond} = await measureLoad(server, {...choice, durationSeconds});
    requireRight(report);
    const {latency, requests} = report;
    const perRequest = requests.answered / durationSeconds;
    const lag = report.generator.sendLag;
    const [main, ...others] = log.list();
    return [
      {
        figure: `${rate} single proofs a second, ${choice.connections} connections: p50`,
        value: latency?.p50Ms ?? Number.NaN,
        unit: "ms",
      },
      {figure: "... p99", value: latency?.p99Ms ?? Number.NaN, unit: "ms"},
      {figure: "... p99.9", value: latency?.p999Ms ?? Number.NaN, unit: "ms"},
      {figure: "... longest", value: latency?.maxMs ?? Number.NaN, unit: "ms"},
      {figure: "... of it the generator's own delay, p99.9", value: lag?.p999Ms ?? Number.NaN, unit: "ms"},
      {figure: "... server CPU per request", value: (serverCpuMsPerSecond * 1000) / perRequest, unit: "us"},
      ...describe("main thread", main, bench),
      ...describe("proof thread", others[0], bench),
    ];
  };
  return withServer(bench, [], work, text => log.read(text));
}

/** @param thread - undefined: it has collected nothing since it started */
function describe(
  name: string,
  thread: Collections | undefined,
  {durationSeconds, rate}: ServiceBench,
): Finding[] {
  const {scavengesMs = [], markCompactsMs = [], garbagePerSecond = 0} = thread ?? {};
  return [
    {figure: `${name}: garbage per request`, value: garbagePerSecond / rate, unit: "bytes"},
    {figure: "... scavenges", value: scavengesMs.length / durationSeconds, unit: "/s"},
    {figure: "... longest", value: Math.max(0, ...scavengesMs), unit: "ms"},
    {figure: "... mark-compacts", value: (markCompactsMs.length * 60) / durationSeconds, unit: "/min"},
    {figure: "... longest", value: Math.max(0, ...markCompactsMs), unit: "ms"},
  ];
}
