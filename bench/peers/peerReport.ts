/** The table of a comparison. */
import {writeNumber, writeTable} from "../program/table.ts";
import type {PeerFigures} from "./comparison.ts";

const COLUMNS: Readonly<Record<string, (one: PeerFigures) => number>> = {
  "requests/s": one => one.requestsPerSecond,
  "proofs or estimates/s": one => one.unitsPerSecond,
  "p50 ms": one => one.p50Ms,
  "p99 ms": one => one.p99Ms,
  "CPU us each": one => one.cpuUsPerUnit,
  "CPU in hashes": one => one.hashesPerUnit,
  "CPU us/request": one => one.cpuUsPerRequest,
};

export function writeReport(figures: readonly PeerFigures[]): string {
  const rows = figures.map(one => {
    const own = figures.find(({load, peer}) => load === one.load && peer === "proofd");
    const factor =
      own === undefined || own === one ? "" : `x ${writeNumber(one.cpuUsPerUnit / own.cpuUsPerUnit)}`;
    return [one.title, one.peer, ...Object.values(COLUMNS).map(value => writeNumber(value(one))), factor];
  });
  return writeTable(["load", "server", ...Object.keys(COLUMNS), "CPU against proofd"], rows, 2);
}
