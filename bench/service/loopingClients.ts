/**
 * Proofs and estimates of transfers while other clients ask for endless loops. All come from one address, which is the harder
 * case: clients with different addresses take turns.
 */
import {setTimeout as sleep} from "node:timers/promises";
import {startLoad} from "proofd-load";
import {createLoad, measureLoad, p99Ms} from "../served/measuredLoad.ts";
import {SCENARIOS} from "../served/scenarios.ts";
import type {ServerProcess} from "../served/serverProcess.ts";
import {compareProofs, type Finding, type ServiceBench, warmUp, withServer} from "./serviceBench.ts";

/** Transfers per second: a thread needs a twentieth of its time for them. */
const TRANSFER_RATE = 100;
/** Time until all loops wait and the first are refused. */
const SETTLE_MS = 3000;
const PASSES = 2;

export function measureLoopingClients(bench: ServiceBench): Promise<Finding[]> {
  return withServer(bench, [], async server => {
    await warmUp(server, bench);
    const {alone, beside, ratio} = await compareProofs(server, bench, PASSES, async () =>
      startLoops(server, bench),
    );
    const stopLoops = startLoops(server, bench);
    await sleep(SETTLE_MS);
    const {keys, durationSeconds} = bench;
    const choice = {keys, rate: TRANSFER_RATE, estimates: 1, verify: 0, durationSeconds};
    const {report} = await measureLoad(server, choice);
    await stopLoops();
    const {title} = SCENARIOS.endless;
    const missed = report.calls.errors + report.requests.failed;
    return [
      {figure: "p99 of single proofs, nothing else", value: alone, unit: "ms"},
      {figure: `p99 of single proofs during ${title}`, value: beside, unit: "ms"},
      {figure: "... ratio", value: ratio, unit: "x"},
      {figure: `p99 of a transfer's estimate during ${title}`, value: p99Ms(report), unit: "ms"},
      {figure: "... transfers without an estimate", value: missed, unit: ""},
    ];
  });
}

/** @returns what stops them. It throws if a loop got an estimate */
function startLoops(server: ServerProcess, {keys, durationSeconds}: ServiceBench): () => Promise<void> {
  const choice = {keys, ...SCENARIOS.endless.choice, durationSeconds: 100 * durationSeconds};
  const load = startLoad(createLoad(server, choice), () => {});
  return async () => {
    load.stop();
    const {calls} = await load.outcome;
    if (calls.results > 0) throw new Error("an endless call got an estimate");
  };
}
