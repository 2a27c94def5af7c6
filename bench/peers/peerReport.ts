/** The table of a comparison, and which targets are met. */
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

const MAX_SLOT_REQUEST_US = 60;
const MAX_BATCH_PROOF_US = 25;
const MIN_NAIVE_FACTOR = 10;

export function writeReport(figures: readonly PeerFigures[]): {table: string; verdicts: string[]} {
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
  const slot = find("slot", "proofd");
  const batch = find("batch", "proofd");
  const naive = find("batch", "naive");
  const factor =
    batch?.cpuUsPerUnit === undefined || naive?.cpuUsPerUnit === undefined
      ? undefined
      : naive.cpuUsPerUnit / batch.cpuUsPerUnit;
  const verdicts = [
    atMost("account + 1 slot, single: CPU us per request", slot?.cpuUsPerRequest, MAX_SLOT_REQUEST_US, slot),
    atMost("batches of 100: CPU us per proof", batch?.cpuUsPerUnit, MAX_BATCH_PROOF_US, batch),
    factor === undefined
      ? undefined
      : `batches of 100: naive / proofd, CPU per proof: ${writeNumber(factor)}, target at least ${MIN_NAIVE_FACTOR}: ${met(factor >= MIN_NAIVE_FACTOR)}`,
  ].filter(line => line !== undefined);
  return {table: writeTable(COLUMNS, rows, 2), verdicts};
}

/** One line of progress. */
export function writeCosts({unit, unitsPerSecond, cpuUsPerUnit, hashUs}: PeerFigures): string {
  return `${writeNumber(unitsPerSecond)} ${unit}s/s, CPU ${writeNumber(cpuUsPerUnit)} us each, a hash ${writeNumber(hashUs)} us`;
}

function atMost(
  what: string,
  value: number | undefined,
  limit: number,
  figures: PeerFigures | undefined,
): string | undefined {
  if (value === undefined || figures === undefined) return undefined;
  return `${what}: ${writeNumber(value)}, target at most ${limit}: ${met(value <= limit)} (a hash took ${writeNumber(figures.hashUs)} us)`;
}

function met(isMet: boolean): string {
  return isMet ? "met" : "NOT MET";
}
