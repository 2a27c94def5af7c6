/** Runs one load on one server, and gives figures that can be compared. */
import {type LoadChoice, measureLoad, requireRight} from "../served/measuredLoad.ts";
import type {ServerProcess} from "../served/serverProcess.ts";
import type {LoadName, PeerLoad, PeerName} from "./peerLoads.ts";

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

export async function runLoad(
  peer: PeerName,
  server: ServerProcess,
  {name, title, unit}: PeerLoad,
  choice: LoadChoice,
): Promise<PeerFigures> {
  const {report, serverCpuMsPerSecond, hashUs} = await measureLoad(server, choice);
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
