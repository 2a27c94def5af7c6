/** Runs a load and measures the CPU time of the server in exactly the measured time. */

import {GENERATOR_WAS_LIMIT, type LoadOptions, type LoadReport, startLoad} from "proofd-load";
import {COMMIT, VERSION} from "../../server/version.ts";
import type {ServerProcess} from "./serverProcess.ts";
import {Yardstick} from "./yardstick.ts";

/** These take 1 % of a core. */
const HASHES_PER_SAMPLE = 500;
const SAMPLE_EVERY_MS = 100;

export type LoadChoice = Pick<LoadOptions, "keys"> & Partial<Omit<LoadOptions, "url" | "version" | "commit">>;

/**
 * Other options have the defaults of `proofd load`, but there is one thread: the other cores are the server's.
 *
 * @returns CPU time of the server's process per second of measured time, NaN except on Linux, and the time of one SHA-256
 *   of 64 bytes during the load
 */
export async function measureLoad(server: ServerProcess, choice: LoadChoice) {
  const yardstick = new Yardstick(HASHES_PER_SAMPLE, SAMPLE_EVERY_MS);
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

function createLoad(server: ServerProcess, choice: LoadChoice): LoadOptions {
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
    // The caller decides what errors mean.
    limits: {maxErrors: {percent: 100}, maxP99Ms: undefined},
    version: VERSION,
    commit: COMMIT,
    command: process.argv.join(" "),
    ...choice,
  };
}

/** @throws Error if the load failed for another reason than a generator at its limit, which the bench accepts */
export function requireRight({failures, verification, errors, url}: LoadReport): void {
  const faults = failures.filter(failure => failure !== GENERATOR_WAS_LIMIT);
  if (faults.length > 0)
    throw new Error(`${url}: ${faults.join(" ")} ${JSON.stringify([verification, errors])}`);
}
