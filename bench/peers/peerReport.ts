/** The table of a comparison. */
import {writeNumber, writeTable} from "../program/table.ts";
import type {PeerFigures} from "./comparison.ts";
import type {LoadName, PeerName} from "./peerNames.ts";

const COLUMNS = [
  "load",
  "server",
  "requests/s",
  "proofs or estimates/s",
  "p50 ms",
  "p99 ms",
  "CPU us each",
  "hashes' worth",
  "CPU us/request",
  "against proofd",
];

export function writeReport(figures: readonly PeerFigures[]): string {
  const find = (load: LoadName, peer: PeerName) =>
    figures.find(one => one.load === load && one.peer === peer);
  const rows = figures.map(one => {
    const own = find(one.load, "proofd")?.cpuUsPerUnit;
    const factor = own === undefined || one.cpuUsPerUnit === undefined ? undefined : one.cpuUsPerUnit / own;
    return [
      one.title,
      one.peer,
      ...[
        one.requestsPerSecond,
        one.unitsPerSecond,
        one.p50Ms,
        one.p99Ms,
        one.cpuUsPerUnit,
        one.hashesPerUnit,
        one.cpuUsPerRequest,
      ].map(writeNumber),
      one.peer === "proofd" || factor === undefined ? "" : `x ${writeNumber(factor)}`,
    ];
  });
  return writeTable(COLUMNS, rows, 2);
}

/** One line of progress. */
export function writeCosts({unit, unitsPerSecond, cpuUsPerUnit, hashUs}: PeerFigures): string {
  return `${writeNumber(unitsPerSecond)} ${unit}s/s, CPU ${writeNumber(cpuUsPerUnit)} us each, a hash ${writeNumber(hashUs)} us`;
}
