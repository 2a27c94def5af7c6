/** Runs one load on one server, and gives figures that can be compared. */
import {type LoadChoice, type MeasuredLoad, measureLoad, requireRight} from "../served/measuredLoad.ts";
import type {ServerProcess} from "../served/serverProcess.ts";
import type {PeerLoad} from "./peerLoads.ts";
import type {LoadName, PeerName} from "./peerNames.ts";

export interface PeerFigures {
  readonly load: LoadName;
  readonly title: string;
  readonly unit: "proof" | "estimate";
  readonly peer: PeerName;
  readonly connections: number;
  readonly batch: number;
  readonly requestsPerSecond: number;
  /** Proofs of accounts and slots, or estimates. */
  readonly unitsPerSecond: number;
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
  /** CPU time of the server's process; undefined if the system does not show it (only Linux does). */
  readonly cpuUsPerUnit: number | undefined;
  readonly cpuUsPerRequest: number | undefined;
  /** Time of one SHA-256 of 64 bytes during the load. */
  readonly hashUs: number;
  /** CPU time per unit in such hashes. */
  readonly hashesPerUnit: number | undefined;
  readonly serverCores: number | undefined;
  readonly generatorBusy: number;
  readonly rssBytes: number | undefined;
  readonly errors: number;
  readonly verified: number;
}

type TimedChoice = LoadChoice & {readonly durationSeconds: number};

/** On a busy machine a short round may end before the first answer, which leaves nothing to compare. */
const LONGEST_ROUND_SECONDS = 64;

/** A round without an answer in its measured time is run again, four times as long. */
export async function runLoad(
  peer: PeerName,
  server: ServerProcess,
  {name, title, unit}: PeerLoad,
  choice: TimedChoice,
): Promise<PeerFigures> {
  const {report, serverCpuMsPerSecond, hashUs} = await measureAnswers(server, choice);
  requireRight(report);
  const {perSecond, latency, settings, errors, verification, generator} = report;
  const unitsPerSecond = unit === "proof" ? perSecond.proofs : perSecond.calls;
  const cpuUs = (count: number) =>
    serverCpuMsPerSecond === undefined || count === 0 ? undefined : (serverCpuMsPerSecond * 1000) / count;
  const cpuUsPerUnit = cpuUs(unitsPerSecond);
  return {
    load: name,
    title,
    unit,
    peer,
    connections: settings.connections,
    batch: settings.batch,
    requestsPerSecond: perSecond.requests,
    unitsPerSecond,
    p50Ms: latency?.p50Ms,
    p99Ms: latency?.p99Ms,
    cpuUsPerUnit,
    cpuUsPerRequest: cpuUs(perSecond.requests),
    hashUs,
    hashesPerUnit: cpuUsPerUnit === undefined ? undefined : cpuUsPerUnit / hashUs,
    serverCores: serverCpuMsPerSecond === undefined ? undefined : serverCpuMsPerSecond / 1000,
    generatorBusy: Math.max(...generator.utilization),
    rssBytes: server.readMemory()?.rss,
    errors: [...errors.rpc, ...errors.http, ...errors.socket].reduce(
      (sum, {count}) => sum + count,
      errors.timeouts,
    ),
    verified: verification.checked,
  };
}

/** The round with the median CPU time per unit, or with the median rate if there is no CPU time. */
export function middleRound(runs: readonly PeerFigures[]): PeerFigures {
  const order = ({cpuUsPerUnit, unitsPerSecond}: PeerFigures) => cpuUsPerUnit ?? 1 / unitsPerSecond;
  return runs.toSorted((a, b) => order(a) - order(b))[runs.length >> 1] as PeerFigures;
}

async function measureAnswers(server: ServerProcess, choice: TimedChoice): Promise<MeasuredLoad> {
  const measured = await measureLoad(server, choice);
  const durationSeconds = 4 * choice.durationSeconds;
  if (measured.report.perSecond.requests > 0 || durationSeconds > LONGEST_ROUND_SECONDS) return measured;
  return measureAnswers(server, {...choice, durationSeconds});
}
