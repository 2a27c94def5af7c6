/** Replicas behind HAProxy, and proofs that everyone asks for, by GET. */
import {join} from "node:path";
import {setTimeout as sleep} from "node:timers/promises";
import {measureGets, prepareGets} from "../feed/cachedGets.ts";
import {startHaproxy} from "../feed/haproxyProcess.ts";
import {measureLoad, requireRight} from "../served/measuredLoad.ts";
import {type ServerProcess, startProofd} from "../served/serverProcess.ts";
import {copyStore} from "../served/storeCopy.ts";
import {type Finding, readLatest, type ServiceBench, warmUp} from "./serviceBench.ts";

const FLAGS = ["--no-estimate", "--workers", "1", "--balanced"];
/** Time for the requests of the preparation to end. */
const SETTLE_MS = 500;
const BATCH = 100;

/** @param folder - for the replicas' stores. @throws ProgramMissing if haproxy is not in PATH */
export async function measureBalanced(bench: ServiceBench, folder: string): Promise<Finding[]> {
  const [one, other] = [join(folder, "one"), join(folder, "other")];
  for (const db of [one, other]) copyStore(bench.directory, db);
  const first = await startProofd(one, FLAGS);
  try {
    const second = await startProofd(other, FLAGS);
    try {
      for (const replica of [first, second]) await warmUp(replica, bench);
      return [
        ...(await measureBehind(bench, folder, "one replica", [first])),
        ...(await measureBehind(bench, folder, "two replicas", [first, second])),
        ...(await measureCached(bench, folder, first)),
      ];
    } finally {
      await second.stop();
    }
  } finally {
    await first.stop();
  }
}

async function measureBehind(
  {keys, durationSeconds}: ServiceBench,
  folder: string,
  name: string,
  replicas: readonly ServerProcess[],
): Promise<Finding[]> {
  const haproxy = await startHaproxy(folder, replicas);
  try {
    const processes = [haproxy, ...replicas];
    const all = {
      url: haproxy.url,
      readCpuMs: () => processes.reduce((sum, one) => sum + one.readCpuMs(), 0),
    };
    const findings: Finding[] = [];
    for (const batch of [1, BATCH]) {
      const {report, serverCpuMsPerSecond, hashUs} = await measureLoad(all, {keys, batch, durationSeconds});
      requireRight(report);
      const {proofs} = report.perSecond;
      const cpuUs = (serverCpuMsPerSecond * 1000) / proofs;
      findings.push(
        {figure: `${name} behind HAProxy, ${batch} in a request: proofs`, value: proofs, unit: "/s"},
        {figure: "... processor time of proofd and HAProxy, each proof", value: cpuUs, unit: "us"},
        {figure: "... a hash of 64 bytes meanwhile", value: hashUs, unit: "us"},
      );
    }
    return findings;
  } finally {
    await haproxy.stop();
  }
}

async function measureCached(
  {durationSeconds}: ServiceBench,
  folder: string,
  replica: ServerProcess,
): Promise<Finding[]> {
  const haproxy = await startHaproxy(folder, [replica]);
  try {
    const block = await readLatest(replica);
    const findings: Finding[] = [];
    for (const [name, server, isKnown] of [
      ["proofd makes each proof", replica, false],
      ["proofd says 304", replica, true],
      ["HAProxy has them", haproxy, false],
    ] as const) {
      const requests = await prepareGets(server.url, block, isKnown);
      await sleep(SETTLE_MS);
      const before = server.readCpuMs();
      const perSecond = await measureGets(requests, durationSeconds);
      const cpuUs = ((server.readCpuMs() - before) * 1000) / (perSecond * durationSeconds);
      findings.push(
        {figure: `GET of a proof, ${name}`, value: perSecond, unit: "/s"},
        {figure: "... processor time of it", value: cpuUs, unit: "us"},
      );
    }
    return findings;
  } finally {
    await haproxy.stop();
  }
}
