/** Runs one load on one server, and formats the comparable figures as a table. */
import {type LoadChoice, measureLoad, requireRight} from "../program/measuredLoad.ts";
import type {ServerProcess} from "../program/serverProcess.ts";
import {writeNumber, writeTable} from "../program/table.ts";
import type {LoadName, PeerLoad, PeerName} from "./peerLoads.ts";

export type PeerFigures = Awaited<ReturnType<typeof runLoad>>;

export async function runLoad(
  load: LoadName,
  {title, unit}: PeerLoad,
  peer: PeerName,
  server: ServerProcess,
  choice: LoadChoice,
) {
  const {report, serverCpuMsPerSecond, hashUs} = await measureLoad(server, choice);
  requireRight(report);
  const {perSecond, latency} = report;
  // Proofs (of an account or a slot each) or calls.
  const unitsPerSecond = unit === "proof" ? perSecond.proofs : perSecond.calls;
  const cpuUsPerUnit = (serverCpuMsPerSecond * 1000) / unitsPerSecond;
  const columns = {
    "requests/s": perSecond.requests,
    "proofs or calls/s": unitsPerSecond,
    "p50 ms": latency?.p50Ms ?? Number.NaN,
    "p99 ms": latency?.p99Ms ?? Number.NaN,
    "CPU us each": cpuUsPerUnit,
    // In SHA-256 hashes of 64 bytes.
    "CPU in hashes": cpuUsPerUnit / hashUs,
    "CPU us/request": (serverCpuMsPerSecond * 1000) / perSecond.requests,
  };
  return {load, title, peer, unitsPerSecond, cpuUsPerUnit, columns};
}

export function writeReport(figures: readonly PeerFigures[]): string {
  const rows = figures.map(one => {
    const own = figures.find(({load, peer}) => load === one.load && peer === "proofd");
    const factor =
      own === undefined || own === one ? "" : `x ${writeNumber(one.cpuUsPerUnit / own.cpuUsPerUnit)}`;
    return [one.title, one.peer, ...Object.values(one.columns).map(writeNumber), factor];
  });
  const names = Object.keys(figures[0]?.columns ?? {});
  return writeTable(["load", "server", ...names, "CPU against proofd"], rows, 2);
}
