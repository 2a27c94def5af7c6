/**
 * Latency of a client during endless estimates of others, an import, or a pull. All clients have the same IP address.
 */
import {type ChildProcess, spawn} from "node:child_process";
import {once} from "node:events";
import {readFileSync, rmSync} from "node:fs";
import {join} from "node:path";
import {setTimeout as sleep} from "node:timers/promises";
import {startLoad} from "proofd-load";
import {createLoad, measureLoad, p99Ms} from "../program/measuredLoad.ts";
import {SCENARIOS} from "../program/scenarios.ts";
import {PROOFD, readChildrenCpuMs, type ServerProcess} from "../program/serverProcess.ts";
import {
  compareProofs,
  type Finding,
  readNewest,
  type Scenario,
  waitForBlock,
  withServer,
  writeBlock,
} from "./scenario.ts";

/** Transfers per second, which keep a thread busy for 5 % of the time. */
const TRANSFER_RATE = 100;
/** Time until the queue is full and the first calls are refused. */
const SETTLE_MS = 3000;
const IMPORTED_LEAF_WRITES = 5000;
const IMPORT_EVERY_MS = 1000;

export function measureLoops(scenario: Scenario): Promise<Finding[]> {
  return withServer(scenario, [], async server => {
    const {title} = SCENARIOS.endless;
    const begin = () => startLoops(server, scenario);
    const findings = await compareProofs(server, scenario, `during ${title}`, begin);
    const stopLoops = startLoops(server, scenario);
    await sleep(SETTLE_MS);
    const {keys, durationSeconds} = scenario;
    const choice = {keys, rate: TRANSFER_RATE, estimates: 1, verify: 0, durationSeconds};
    const {report} = await measureLoad(server, choice);
    await stopLoops();
    const missed = report.calls.errors + report.requests.failed;
    return [
      ...findings,
      {figure: `p99 of a transfer's estimate during ${title}`, value: p99Ms(report), unit: "ms"},
      {figure: "... transfers without an estimate", value: missed, unit: ""},
    ];
  });
}

/** @returns a function that stops the load. @throws Error, from that function, if an endless call got an estimate */
function startLoops(server: ServerProcess, {keys, durationSeconds}: Scenario): () => Promise<void> {
  const choice = {keys, ...SCENARIOS.endless.choice, durationSeconds: 100 * durationSeconds};
  const load = startLoad(createLoad(server, choice), () => {});
  return async () => {
    load.stop();
    const {calls} = await load.outcome;
    if (calls.results > 0) throw new Error("an endless call got an estimate");
  };
}

export function measureImport(scenario: Scenario): Promise<Finding[]> {
  return withServer(scenario, ["--allow-unverified", "--diffs", "-"], async server => {
    const first = (await readNewest(server)) + 1;
    // Prepared in advance, because it takes time.
    const blocks = Array.from({length: 2 * (scenario.durationSeconds + 3)}, (_, i) =>
      writeBlock(first + i, scenario.accounts, IMPORTED_LEAF_WRITES),
    );
    let [given, late] = [0, 0];
    const what = `during an import of ${IMPORTED_LEAF_WRITES} leaf writes each second`;
    const findings = await compareProofs(server, scenario, what, () => {
      const timer = setInterval(() => server.write(blocks[given++] ?? ""), IMPORT_EVERY_MS);
      return async () => {
        clearInterval(timer);
        // The last block may have been sent just now.
        late += Math.max(0, first + given - 2 - (await readNewest(server)));
        await waitForBlock(server, first + given - 1);
      };
    });
    return [...findings, {figure: "... blocks not imported when the next one came", value: late, unit: ""}];
  });
}

export function measurePull(scenario: Scenario): Promise<Finding[]> {
  return withServer(scenario, [], async server => {
    const block = await readNewest(server);
    const {stateRoot} = (await server.call("chain_getStateRoot", [`0x${block.toString(16)}`])) as {
      readonly stateRoot: string;
    };
    const out = join(scenario.folder, "pulled");
    const start = () => {
      rmSync(out, {recursive: true, force: true});
      const flags = ["--url", server.url.href, "--block", `${block}`, "--root", stateRoot, "--out", out];
      return spawn(process.execPath, [PROOFD, "pull", "--all", ...flags], {stdio: "ignore"});
    };
    const [startMs, serverMs, ownMs] = [performance.now(), server.readCpuMs(), readChildrenCpuMs()];
    const pull = start();
    const [code] = await once(pull, "exit");
    if (code !== 0) throw new Error(`proofd pull ended with ${code}`);
    const seconds = (performance.now() - startMs) / 1000;
    const {rows} = JSON.parse(readFileSync(join(out, "manifest.json"), "utf8")) as {
      readonly rows: Readonly<Record<string, number>>;
    };
    const cpuSeconds = (readChildrenCpuMs() - ownMs) / 1000;
    const serverSeconds = (server.readCpuMs() - serverMs) / 1000;
    const findings = await compareProofs(server, scenario, "during a pull", () => repeat(start));
    return [
      {figure: `a pull of ${rows.accounts} accounts and ${rows.slots} slots`, value: seconds, unit: "s"},
      {figure: "... CPU time of the client", value: cpuSeconds, unit: "s"},
      {figure: "... CPU time of the server", value: serverSeconds, unit: "s"},
      ...findings,
    ];
  });
}

/** Restarts a process whenever it ends. @returns a function that stops it */
function repeat(start: () => ChildProcess): () => Promise<void> {
  let child = start();
  let isStopped = false;
  const run = async (): Promise<void> => {
    for (; ; child = start()) {
      await once(child, "exit");
      if (isStopped) return;
    }
  };
  const ended = run();
  return () => {
    isStopped = true;
    child.kill("SIGKILL");
    return ended;
  };
}
