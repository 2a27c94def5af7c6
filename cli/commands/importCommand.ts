/** `proofd import`: imports blocks or block differences into a store. */

import {once} from "node:events";
import {existsSync} from "node:fs";
import {count} from "../../client/bytes/values.ts";
import {readManifest} from "../../client/folder/manifest.ts";
import {PulledError} from "../../client/folder/pulledError.ts";
import type {BlockCommand, ControlAnswer} from "../../server/lifecycle/control/blockCommand.ts";
import {DEFAULT_CACHE_BYTES, OwnedStore} from "../../server/lifecycle/storeOpening.ts";
import {SettingsError, WorkError} from "../../server/lifecycle/workError.ts";
import {missingSpace} from "../../storage/directory/diskSpace.ts";
import {toHex} from "../../storage/hex.ts";
import type {PruneEvent} from "../../workers/chain/pruner.ts";
import type {Engine} from "../../workers/engine.ts";
import type {Head} from "../../workers/messages/head.ts";
import type {ImportOutcome} from "../../workers/messages/importJob.ts";
import type {ImportSource, SourceEvent} from "../../workers/messages/importSource.ts";
import {ExitCode, exitCodeOf, type Stopping, watchSignals} from "../exitCode.ts";
import type {ValuesOf} from "../flags/flagTable.ts";
import type {IMPORT_FLAGS} from "../flags/importFlags.ts";
import {createProgress} from "./progress.ts";

type ImportOptions = Omit<ValuesOf<typeof IMPORT_FLAGS>, "source"> & {readonly source: ImportSource};

/** @returns the exit code: that of the signal if one stopped the import before its end */
export async function runImport(options: ImportOptions): Promise<number> {
  const stopping = watchSignals();
  const pruned = new PruneReport();
  const {db: directory, chainId, history} = options;
  const engineOptions = {
    ...{directory, chainId, suite: suiteOf(options), createIfMissing: true},
    ...{workers: 0, cacheBytes: DEFAULT_CACHE_BYTES},
    pruning: {history, rests: false, onEvent: (event: PruneEvent) => pruned.note(event)},
  };
  const store = await OwnedStore.open(engineOptions, reportCommand);
  let code: number = ExitCode.FAILED;
  try {
    code = await importInto(store.engine, options, stopping, pruned);
    return code;
  } finally {
    await store.close(code !== ExitCode.OK);
  }
}

async function importInto(
  engine: Engine,
  options: ImportOptions,
  stopping: Stopping,
  pruned: PruneReport,
): Promise<number> {
  if (stopping.reason !== undefined) return exitCodeOf(stopping.reason);
  const {source, finalized, allowUnverified, head, chainId} = options;
  const job = {source, finalized, allowUnverified, head, chainId};
  const running = engine.startImport(job, createProgress(), event => {
    const line = describeSourceEvent(event);
    if (line !== undefined) process.stderr.write(`import: ${line}\n`);
  });
  const stop = (): void => {
    process.stderr.write(`${stopping.reason}: stopping after the current block\n`);
    running.stop();
  };
  stopping.addEventListener("abort", stop);
  const outcome = await running.outcome.finally(() => stopping.removeEventListener("abort", stop));
  if (!outcome.ok) {
    const missing = outcome.writeFailed ? missingSpace(options.db) : undefined;
    const advice = missing === undefined ? "" : `. Import again when ${missing}`;
    process.stderr.write(`error: ${outcome.message}${advice}\n${describe(engine, outcome)}\n`);
    return outcome.isFinal ? ExitCode.USAGE : ExitCode.FAILED;
  }
  // A signal that came just before the end has stopped nothing.
  const isLate = stopping.aborted && !outcome.stopped;
  if (!stopping.aborted) await Promise.race([engine.pruner?.idle(), once(stopping, "abort")]);
  if ((source.kind === "pull" || source.kind === "state") && outcome.blocks > 0)
    process.stdout.write(`${describeFirst(engine)}\n`);
  process.stdout.write(`${describe(engine, outcome)}${pruned.text}\n`);
  if (pruned.failure !== undefined) {
    process.stderr.write(`error: pruning failed: ${pruned.failure}\n`);
    return ExitCode.FAILED;
  }
  return stopping.reason === undefined || isLate ? ExitCode.OK : exitCodeOf(stopping.reason);
}

function reportCommand({kind}: BlockCommand, answer: ControlAnswer): void {
  const done = (head: Head): string =>
    kind === "finalize"
      ? `blocks up to ${head.finalized} are finalized`
      : `the newest block is ${head.latest}`;
  process.stderr.write(`proofd ${kind}: ${answer.ok ? done(answer.after) : answer.message}\n`);
}

/** A store that starts with a state gets the state's suite. @throws SettingsError, WorkError */
function suiteOf({source, suite}: ImportOptions): string | undefined {
  if (source.kind === "state") return requireSuite(suite, "keccak", "a state of geth");
  if (source.kind !== "pull") return suite;
  try {
    return requireSuite(suite, readManifest(source.path).asked.suite, `the pull in ${source.path}`);
  } catch (error) {
    const Kind = existsSync(source.path) ? WorkError : SettingsError;
    if (error instanceof PulledError) throw new Kind(`--pull: ${error.message}`, {cause: error});
    throw error;
  }
}

function requireSuite(given: string | undefined, suite: string, of: string): string {
  if (given === undefined || given === suite) return suite;
  throw new SettingsError(`--suite: expected ${suite}, that of ${of}, got ${given}`);
}

class PruneReport {
  failure: string | undefined;
  private blocks = 0;
  private pages = 0;

  get text(): string {
    return this.blocks === 0 ? "" : `; pruned ${count(this.blocks, "block")}, ${count(this.pages, "page")}`;
  }

  note(event: PruneEvent): void {
    if (event.kind === "failed" || event.kind === "waits") this.failure = String(event.error);
    if (event.kind !== "end") return;
    this.blocks += event.blocks;
    this.pages += event.pages;
  }
}

function describe(engine: Engine, outcome: ImportOutcome): string {
  const {earliest, finalized, latest} = engine.chain.head();
  const repeated =
    outcome.ok && outcome.alreadyStored > 0 ? `, ${outcome.alreadyStored} already in the store` : "";
  const stopped = outcome.ok && outcome.stopped ? ", stopped before the end" : "";
  const imported = `imported ${count(outcome.blocks, "block")}${repeated}${stopped}`;
  if (latest === undefined) return `${imported}; the store is empty`;
  const head = engine.chain.readBlock(latest);
  return `${imported}; the store has ${earliest === latest ? `block ${latest}` : `blocks ${earliest} to ${latest}`}, ${finalized === undefined ? "none is finalized" : `finalized up to ${finalized}`}; head: block ${latest}, ${"hash" in head ? toHex(head.hash) : head.detail}`;
}

function describeFirst(engine: Engine): string {
  const first = engine.chain.readHeader(engine.store.reader.firstBlock);
  if ("failure" in first) return first.detail;
  return `the store begins with the state of block ${first.number} under the root ${toHex(first.stateRoot)}`;
}

/** @returns a line for the operator; undefined for events that the progress shows */
function describeSourceEvent(event: SourceEvent): string | undefined {
  switch (event.kind) {
    case "chosen":
      return `blocks are read by ${event.source}: ${event.why}`;
    case "method":
      return `${event.name} gives blocks by ${event.method}: ${event.why}`;
    case "node":
      return `${event.name} is ${event.state}: ${event.reason}`;
    case "heads":
      return `${event.name}: ${event.state}: ${event.reason}`;
    case "reorganised":
      return `the node's chain was reorganised: blocks ${event.ancestor + 1} to ${event.latest} were removed`;
    case "verification":
      return event.unverified === undefined
        ? `blocks from ${event.block} on are verified again`
        : `blocks from ${event.block} on are unverified: ${event.unverified}`;
    case "resets":
      return `block ${event.block}: nothing but the source shows that ${event.accounts[0]} was removed and made again, of ${event.accounts.length} such accounts`;
    case "missed":
      return `blocks ${event.from} to ${event.to} cannot be proved: the node no longer had their states`;
    case "incomplete":
      return `block ${event.block}: more slots of ${event.contracts.join(", ")} changed than its trace names: some may not be provable`;
    case "senders":
      return `the thread that recovers senders ahead has ended; blocks take longer: ${event.reason}`;
    case "state":
      return undefined;
  }
}
