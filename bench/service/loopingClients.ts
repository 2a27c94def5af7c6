/**
 * Proofs and estimates of transfers while other clients ask for endless loops. All come from one address, which is the harder
 * case: clients with different addresses take turns.
 */
import {type RunningLoad, startLoad} from "../load/loadRun.ts";
import {createLoad, measureLoad, p99Ms} from "../served/measuredLoad.ts";
import {SCENARIOS} from "../served/scenarios.ts";
import type {ServerProcess} from "../served/serverProcess.ts";
import type {Finding, ServiceBench} from "./finding.ts";
import {compareProofs, sleep, warmUp} from "./watch.ts";

/** Transfers per second: a thread needs a twentieth of its time for them. */
const TRANSFER_RATE = 100;
/** Time until all loops wait and the first are refused. */
const SETTLE_MS = 3000;
const PASSES = 2;

export async function measureLoopingClients(bench: ServiceBench): Promise<Finding[]> {
  const server = await bench.startServer();
  try {
    await warmUp(server, bench);
    const {keys, durationSeconds} = bench;
    const {title, choice} = SCENARIOS.transfers;
    const batched = await measureLoad(server, {keys, ...choice, durationSeconds, warmUpSeconds: 2});
    const cpuUs = batched.serverCpuMsPerSecond;
    let loops: EndlessLoops | undefined;
    const {alone, beside, ratio} = await compareProofs(server, bench, {
      begin: () => {
        loops = new EndlessLoops(server, bench);
      },
      end: () => loops?.stop(),
      passes: PASSES,
    });
    loops = new EndlessLoops(server, bench);
    await sleep(SETTLE_MS);
    const rate = {rate: TRANSFER_RATE, estimates: 1, verify: 0};
    const {report} = await measureLoad(server, {keys, ...rate, durationSeconds});
    await loops.stop();
    const {title: endless} = SCENARIOS.endless;
    return [
      {
        figure: `${title}: server CPU per estimate`,
        value: cpuUs === undefined ? undefined : (cpuUs * 1000) / batched.report.perSecond.calls,
        unit: "us",
      },
      {figure: "... estimates per second", value: batched.report.perSecond.calls, unit: "/s"},
      {figure: "p99 of single proofs, nothing else", value: alone, unit: "ms"},
      {figure: `p99 of single proofs during ${endless}`, value: beside, unit: "ms"},
      {figure: "... ratio", value: ratio, unit: "x"},
      {figure: `p99 of a transfer's estimate during ${endless}`, value: p99Ms(report), unit: "ms"},
      {
        figure: "... transfers without an estimate",
        value: report.calls.errors + report.requests.failed,
        unit: "",
      },
    ];
  } finally {
    await server.stop();
  }
}

class EndlessLoops {
  private readonly load: RunningLoad;

  constructor(server: ServerProcess, {keys, durationSeconds}: ServiceBench) {
    const choice = {keys, ...SCENARIOS.endless.choice, durationSeconds: 100 * durationSeconds};
    this.load = startLoad(createLoad(server, choice), () => {});
  }

  /** @throws Error if a loop got an estimate */
  async stop(): Promise<void> {
    this.load.stop();
    const {calls} = await this.load.outcome;
    if (calls.results > 0) throw new Error("an endless call got an estimate");
  }
}
