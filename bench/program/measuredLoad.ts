/** A load and its cost for the server: CPU time over exactly the measured time, without the warm-up. */

import {GENERATOR_WAS_LIMIT, type LoadOptions, type LoadReport, startLoad} from "proofd-load";
import {COMMIT, VERSION} from "../../server/version.ts";
import type {ServerProcess} from "./serverProcess.ts";
import {Yardstick} from "./yardstick.ts";

/** This takes 1 % of a core. */
const HASHES_PER_LOOK = 500;
const LOOK_EVERY_MS = 100;

export type LoadChoice = Pick<LoadOptions, "keys"> & Partial<Omit<LoadOptions, "url" | "version" | "commit">>;

export interface MeasuredLoad {
  readonly report: LoadReport;
  /** CPU time of all the server's threads per second of measured time. NaN if the system does not show it. */
  readonly serverCpuMsPerSecond: number;
  /** Time of one hash of 64 bytes during the load, in microseconds. */
  readonly hashUs: number;
}

/**
 * Fields that `choice` does not give have the defaults of `proofd load`, except one thread: the other cores are the server's.
 */
export async function measureLoad(server: ServerProcess, choice: LoadChoice): Promise<MeasuredLoad> {
  const yardstick = new Yardstick(HASHES_PER_LOOK, LOOK_EVERY_MS);
  let cpuMs = Number.NaN;
  let startMs = 0;
  let seconds = 0;
  const {outcome} = startLoad(createLoad(server, choice), () => {}, {
    onMeasureStart: () => {
      cpuMs = server.readCpuMs();
      startMs = performance.now();
      yardstick.start();
    },
    onMeasureEnd: () => {
      cpuMs = server.readCpuMs() - cpuMs;
      seconds = (performance.now() - startMs) / 1000;
      yardstick.stop();
    },
  });
  const report = await outcome;
  return {report, serverCpuMsPerSecond: cpuMs / seconds, hashUs: yardstick.medianUs};
}

/** A load that only keeps the server busy. */
export function createLoad(server: ServerProcess, choice: LoadChoice): LoadOptions {
  return {
    url: server.url,
    style: "chain",
    connections: 16,
    threads: 1,
    batch: 1,
    rate: undefined,
    durationSeconds: 5,
    warmUpSeconds: 1,
    absent: 0,
    slots: 0,
    blocks: "latest",
    estimates: 0,
    seed: 1,
    timeoutMs: 30_000,
    verify: 50,
    // Errors are figures here. The caller judges them.
    limits: {maxErrors: {percent: 100}, maxP99Ms: undefined},
    version: VERSION,
    commit: COMMIT,
    command: process.argv.join(" "),
    ...choice,
  };
}

/** @throws Error if an answer was wrong, none came, or none could be verified. A generator at its limit is as much as this machine gives */
export function requireRight({failures, verification, errors, url}: LoadReport): void {
  const faults = failures.filter(failure => failure !== GENERATOR_WAS_LIMIT);
  if (faults.length > 0)
    throw new Error(`${url}: ${faults.join(" ")} ${JSON.stringify([verification, errors])}`);
}

/** NaN if no request got a result. */
export function p99Ms({latency}: LoadReport): number {
  return latency?.p99Ms ?? Number.NaN;
}
