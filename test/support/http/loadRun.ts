/** Short runs of `proofd load`, and checks that every report must pass. */
import assert from "node:assert/strict";
import {writeFile} from "node:fs/promises";
import {after} from "node:test";
import type {LoadReport} from "../../../bench/load/report/loadReport.ts";
import {ACCOUNTS, WorkFolder} from "../chains/serviceChain.ts";
import type {CommandEnd} from "../processes/commandLines.ts";
import {CommandSession} from "../processes/commandSession.ts";
import {type Daemon, startDaemon} from "../processes/daemon.ts";

const SHORT = ["--duration", "1", "--warm-up", "0", "--json"];

/** Writes a file for --keys: the accounts of block 0 and their slots. @returns the file */
export async function writeKeys(folder: WorkFolder): Promise<string> {
  const keys = folder.file("keys.txt");
  await writeFile(keys, ACCOUNTS.map(address => `${address} 0x1 0x2 0x3 # of block 0\n`).join(""));
  return keys;
}

export interface LoadTarget {
  readonly folder: WorkFolder;
  readonly daemon: Daemon;
  /** The file for --keys. */
  readonly keys: string;
}

/** Starts a service of 6 blocks to run load against. Its caller stops the daemon and removes the folder. */
export async function startLoadTarget(): Promise<LoadTarget> {
  const folder = await WorkFolder.create();
  const daemon = await startDaemon(["--db", await folder.importChain("db", 5, 3)]);
  return {folder, daemon, keys: await writeKeys(folder)};
}

interface Outcome extends CommandEnd {
  readonly report: LoadReport;
}

let session: CommandSession | undefined;
after(() => session?.stop());

/** Starts the process of `runLoad`, for the whole file. Called in a hook, because a process ends with the test that started it. */
export function startLoads(): void {
  session = new CommandSession();
}

/** A short run whose report is JSON. All of a file run in one process, after each other. */
export async function runLoad(url: string, args: readonly string[]): Promise<Outcome> {
  assert.ok(session !== undefined, "startLoads comes first");
  const end = await session.run(["load", "--url", url, ...SHORT, ...args]);
  assert.match(end.stdout, /^\{.*\}\n$/, end.stderr);
  return {...end, report: JSON.parse(end.stdout)};
}

/** Checks that every request and every call is counted once, whatever happened. */
export function assertAddsUp({requests, calls, errors, settings, timeline, latency}: LoadReport): void {
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  const listed = (kind: "rpc" | "http" | "socket") => sum(errors[kind].map(({count}) => count));
  assert.equal(requests.answered + requests.failed, requests.due);
  assert.equal(listed("http") + listed("socket") + errors.timeouts, requests.failed);
  assert.equal(calls.results + calls.errors + calls.malformed + calls.lost, calls.due);
  assert.equal(calls.due, requests.due * settings.batch);
  assert.equal(listed("rpc"), calls.errors);
  assert.equal(errors.malformed, calls.malformed);
  // Without a warm-up, every request that was due has arrived, in the measured time or after it.
  assert.equal(sum(timeline.map(row => row.answered + row.failed)) + requests.late, requests.due);
  if (latency) {
    const {p50Ms, p90Ms, p99Ms, p999Ms, maxMs, distribution} = latency;
    const ascending = [p50Ms, p90Ms, p99Ms, p999Ms, maxMs];
    assert.deepEqual(
      ascending.toSorted((a, b) => a - b),
      ascending,
    );
    assert.deepEqual(distribution.at(-1), [100, maxMs]);
  }
}
