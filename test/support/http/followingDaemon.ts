/** A service that imports blocks from a source while it answers, and what it reports of the source. */
import {encodeLines} from "../chains/differenceLine.ts";
import {createLine} from "../chains/serviceChain.ts";
import type {AskedService} from "./askedService.ts";
import {OwnService} from "./ownService.ts";

/** Runs `body` against a service whose store is `db` and that imports what is written to its `input`. */
export async function withFollowing(db: string, body: (daemon: OwnService) => Promise<void>): Promise<void> {
  const daemon = await OwnService.fed(db);
  try {
    await body(daemon);
  } finally {
    await daemon.stop();
  }
}

/** Blocks `first` to `last`, each finalized. */
export function linesOf(first: number, last: number): string {
  return encodeLines(Array.from({length: last - first + 1}, (_, at) => createLine(first + at, first + at)));
}

export function waitForMetric(daemon: AskedService, sample: string): Promise<void> {
  const isThere = async () => (await daemon.get("/metrics")).text.includes(`\n${sample}\n`);
  return daemon.until(`the metric ${sample}`, isThere);
}

/** Waits until chain_getCoverage says so. @param block - a quantity */
export function waitForCoverage(
  daemon: AskedService,
  field: "latest" | "finalized",
  block: string,
): Promise<void> {
  return daemon.until(`${field} block ${block}`, async () => {
    return (await daemon.call("chain_getCoverage")).result?.[field] === block;
  });
}

export function waitForReadiness(daemon: AskedService, text: RegExp): Promise<void> {
  return daemon.until(`/readyz with ${text}`, async () => text.test((await daemon.get("/readyz")).text));
}

export function waitForHead(daemon: AskedService, block: number): Promise<void> {
  return waitForMetric(daemon, `proofd_head_block{which="latest"} ${block}`);
}

export function waitForState(daemon: AskedService, state: string): Promise<void> {
  return waitForMetric(daemon, `proofd_source_state{state="${state}"} 1`);
}

/** What /readyz says last where blocks from `from` to the newest one came without headers. */
export function unverified(from: number, latest: number): string {
  const blocks = from === latest ? `block ${from}` : `blocks ${from} to ${latest}`;
  return `unverified: ${blocks}, no header or finalization commits to their state\n`;
}

/** @param lagSeconds - the age that the newest block may have; undefined: any, and the source may have ended */
export async function readReadiness(
  daemon: AskedService,
  lagSeconds?: number,
): Promise<[status: number, text: string]> {
  const {status, text} = await daemon.get(lagSeconds === undefined ? "/readyz" : `/readyz?lag=${lagSeconds}`);
  return [status, text];
}
