/** Short runs of `proofd load` in the test's own process, and checks that every report must pass. */
import assert from "node:assert/strict";
import {writeFile} from "node:fs/promises";
import {encodeReport, GENERATOR_WAS_LIMIT, type LoadReport, startLoad} from "proofd-load";
import {createCommand} from "../../../cli/flags/flagTable.ts";
import {LOAD_FLAGS, readLoadOptions} from "../../../cli/flags/loadFlags.ts";
import {ACCOUNTS, WorkFolder} from "../chains/serviceChain.ts";
import {OwnService} from "./ownService.ts";

const SECONDS = 0.25;
/** Neither a target nor a generator gives a request up before, unless the test says so, however busy the machine is. */
const PATIENCE_MS = 600_000;
/** The newest block that is finalized, of a target's 5 blocks. */
export const FINALIZED = 3;

/** Writes a file for --keys: the accounts of block 0 and their slots. @returns the file */
export async function writeKeys(folder: WorkFolder): Promise<string> {
  const keys = folder.file("keys.txt");
  await writeFile(keys, ACCOUNTS.map(address => `${address} 0x1 0x2 0x3 # of block 0\n`).join(""));
  return keys;
}

interface LoadTarget {
  readonly folder: WorkFolder;
  readonly service: OwnService;
  /** The file for --keys. */
  readonly keys: string;
}

/** Starts a service of 6 blocks to run load against. Its caller stops the service. */
export async function startLoadTarget(): Promise<LoadTarget> {
  const folder = new WorkFolder();
  const db = await folder.importChain("db", 5, FINALIZED);
  const service = await OwnService.start({db, limits: {timeoutMs: PATIENCE_MS}});
  return {folder, service, keys: await writeKeys(folder)};
}

/** Tests share the machine with others, so that a generator may be at its limit. That is for tests of its own. */
export function failuresOf({failures}: LoadReport): string[] {
  return failures.filter(failure => failure !== GENERATOR_WAS_LIMIT);
}

/** Runs a load with these flags, on one thread and without a warm-up unless they say otherwise. @returns what --json prints */
export async function runLoad(url: string, args: readonly string[], seconds = SECONDS): Promise<LoadReport> {
  let report: LoadReport | undefined;
  const command = createCommand("load", "", LOAD_FLAGS, async (values, self) => {
    const options = {...readLoadOptions(values, self), durationSeconds: seconds};
    report = JSON.parse(encodeReport(await startLoad(options, () => {}).outcome));
  });
  const given = ["--warm-up", "0", "--threads", "1", "--timeout", String(PATIENCE_MS)];
  const flags = ["--url", url, ...given, ...args];
  await command.exitOverride().parseAsync(flags, {from: "user"});
  assert.ok(report, "no report");
  return {...report, failures: failuresOf(report)};
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
