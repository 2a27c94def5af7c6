/** `proofd pull`: writes a state, or parts of it, verified, into files. `--verify` verifies such files. */

import {decodeHex, encodeHex} from "../../client/bytes/hex.ts";
import {count} from "../../client/bytes/values.ts";
import {checkFolder} from "../../client/folder/folderCheck.ts";
import {type Manifest, readManifest} from "../../client/folder/manifest.ts";
import {PulledError} from "../../client/folder/pulledError.ts";
import {WorkError} from "../../server/lifecycle/workError.ts";
import {ExitCode, exitCodeOf, watchSignals} from "../exitCode.ts";
import type {Changes, FolderVerification, GivenPull} from "../flags/pullFlags.ts";
import type {RootSource} from "../flags/verifyFlags.ts";
import {PullProgress} from "./pull/pullProgress.ts";
import {runPull} from "./pull/pullRun.ts";
import {readTrustedRoot} from "./rootSource.ts";

export async function runPullCommand(options: GivenPull | FolderVerification): Promise<number> {
  return "folder" in options ? verifyFolder(options) : pull(options);
}

async function pull(given: GivenPull): Promise<number> {
  const stopping = watchSignals();
  const stop = new AbortController();
  stopping.addEventListener("abort", () => stop.abort(new WorkError(`${stopping.reason} came`)));
  try {
    const choice =
      given.choice.kind === "changesSince" ? await readStart(given, given.choice.folder) : given.choice;
    const options = {...given, choice};
    const {root: trustedRoot, by} = await readTrustedRoot(options.root);
    const fromRoot = choice.kind === "changes" ? (await readTrustedRoot(choice.root)).root : undefined;
    const progress = new PullProgress(process.stderr);
    const manifest = await runPull(options, {trustedRoot, fromRoot, progress, signal: stop.signal});
    process.stdout.write(describeManifest(options.out, manifest, by));
    return ExitCode.OK;
  } catch (error) {
    if (stopping.reason === undefined || !(error instanceof WorkError)) throw error;
    process.stderr.write(`error: ${error.message}\n`);
    return exitCodeOf(stopping.reason);
  }
}

/** @throws WorkError unless the folder is a completed pull of an earlier block with the same suite */
async function readStart({block, suite}: GivenPull, folder: string): Promise<Changes> {
  const {block: from, asked} = await withFolder("--changes-from", async () => readManifest(folder));
  const found = `the pull in ${folder} is of block ${from.number} with the suite ${asked.suite}`;
  if (from.number >= block || asked.suite !== suite)
    throw new WorkError(
      `--changes-from: expected one of a block below --block (${block}) with the suite ${suite}; ${found}`,
    );
  return {kind: "changes", from: from.number, root: {kind: "root", root: decodeHex(from.stateRoot)}};
}

function verifyFolder({folder, root, fromRoot}: FolderVerification): Promise<number> {
  return withFolder("--verify", async () => {
    const manifest = readManifest(folder);
    const {block, asked} = manifest;
    const by = await compareRoot(folder, root?.(block.number), block.stateRoot);
    if (asked.fromBlock !== undefined && asked.fromRoot !== undefined)
      await compareRoot(folder, fromRoot?.(asked.fromBlock), asked.fromRoot);
    await checkFolder(folder, manifest);
    process.stdout.write(describeManifest(folder, manifest, by ?? "that of its manifest"));
    return ExitCode.OK;
  });
}

/** Prefixes errors about the folder with the flag. @throws WorkError */
async function withFolder<Result>(flag: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PulledError) throw new WorkError(`${flag}: ${error.message}`, {cause: error});
    throw error;
  }
}

/** @returns the source of the trusted root; undefined without one. @throws WorkError if it is not that of the folder */
async function compareRoot(
  folder: string,
  source: RootSource | undefined,
  pulledRoot: string,
): Promise<string | undefined> {
  if (source === undefined) return undefined;
  const {root, by} = await readTrustedRoot(source);
  if (encodeHex(root) === pulledRoot) return by;
  throw new WorkError(
    `--verify ${folder}: expected the root ${encodeHex(root)}, ${by}, got a pull under the root ${pulledRoot}`,
  );
}

function describeManifest(folder: string, {rows, block, asked, parts}: Manifest, by: string): string {
  const nouns = {
    ...{accounts: "account", trees: "storage tree", slots: "slot", codes: "code"},
    ...{values: "value", absent: "absent account"},
    ...{account_changes: "changed account", slot_changes: "changed slot"},
  };
  const counts = Object.entries(nouns).flatMap(([table, noun]) => {
    const rowCount = rows[table as keyof typeof nouns];
    return rowCount === undefined ? [] : [count(rowCount, noun)];
  });
  const {fromBlock} = asked;
  const blocks =
    fromBlock === undefined ? `of block ${block.number}` : `from block ${fromBlock} to ${block.number}`;
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  return (
    `VERIFIED: ${counts.length === 0 ? "no rows" : counts.join(", ")} ${blocks} under the root ${block.stateRoot}, ${by}\n` +
    `${folder} has ${count(parts.length, "part")}, ${(bytes / 1e6).toFixed(1)} MB\n`
  );
}
