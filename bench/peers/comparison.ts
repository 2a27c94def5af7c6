/** Runs one load on one server, and gives figures that can be compared. */
import {type LoadChoice, type MeasuredLoad, measureLoad, requireRight} from "../program/measuredLoad.ts";
import type {ServerProcess} from "../program/serverProcess.ts";
import type {PeerLoad} from "./peerLoads.ts";
import type {LoadName, PeerName} from "./peerOptions.ts";

/** CPU time is that of the server's process, NaN if the system does not show it (only Linux does). */
export interface PeerFigures {
  readonly load: LoadName;
  readonly title: string;
  readonly peer: PeerName;
  readonly requestsPerSecond: number;
  /** Proofs of accounts and slots, or estimates. */
  readonly unitsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuUsPerUnit: number;
  /** CPU time per unit in SHA-256 hashes of 64 bytes. */
  readonly hashesPerUnit: number;
  readonly cpuUsPerRequest: number;
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
  const {perSecond, latency} = report;
  const unitsPerSecond = unit === "proof" ? perSecond.proofs : perSecond.calls;
  const cpuUsPerUnit = (serverCpuMsPerSecond * 1000) / unitsPerSecond;
  return {
    load: name,
    title,
    peer,
    requestsPerSecond: perSecond.requests,
    unitsPerSecond,
    p50Ms: latency?.p50Ms ?? Number.NaN,
    p99Ms: latency?.p99Ms ?? Number.NaN,
    cpuUsPerUnit,
    hashesPerUnit: cpuUsPerUnit / hashUs,
    cpuUsPerRequest: (serverCpuMsPerSecond * 1000) / perSecond.requests,
  };
}

/** The round with the median rate. */
export function middleRound(runs: readonly PeerFigures[]): PeerFigures {
  return runs.toSorted((a, b) => a.unitsPerSecond - b.unitsPerSecond)[runs.length >> 1] as PeerFigures;
}

async function measureAnswers(server: ServerProcess, choice: TimedChoice): Promise<MeasuredLoad> {
  const measured = await measureLoad(server, choice);
  const durationSeconds = 4 * choice.durationSeconds;
  if (measured.report.perSecond.requests > 0 || durationSeconds > LONGEST_ROUND_SECONDS) return measured;
  return measureAnswers(server, {...choice, durationSeconds});
}
