/** `proofd pull`: writes a state, or parts of it, verified, into files. `--verify` verifies such files. */

import {encodeHex} from "../../client/bytes/hex.ts";
import {count} from "../../client/bytes/values.ts";
import {checkFolder} from "../../client/folder/folderCheck.ts";
import {type Manifest, readManifest} from "../../client/folder/manifest.ts";
import {WorkError} from "../../server/lifecycle/workError.ts";
import {ExitCode, exitCodeOf, watchSignals} from "../exitCode.ts";
import type {FolderVerification, PullOptions} from "../flags/pullFlags.ts";
import type {RootSource} from "../flags/verifyFlags.ts";
import {PullProgress} from "./pull/pullProgress.ts";
import {runPull, withFolder} from "./pull/pullRun.ts";
import {readTrustedRoot} from "./rootSource.ts";

export async function runPullCommand(options: PullOptions | FolderVerification): Promise<number> {
  return "folder" in options ? verifyFolder(options) : pull(options);
}

async function pull(options: PullOptions): Promise<number> {
  const stopping = watchSignals();
  const stop = new AbortController();
  stopping.addEventListener("abort", () => stop.abort(new WorkError(`${stopping.reason} came`)));
  try {
    const progress = new PullProgress(process.stderr);
    const [manifest, by] = await runPull(options, {progress, signal: stop.signal});
    process.stdout.write(describeManifest(options.out, manifest, by));
    return ExitCode.OK;
  } catch (error) {
    if (stopping.reason === undefined || !(error instanceof WorkError)) throw error;
    process.stderr.write(`error: ${error.message}\n`);
    return exitCodeOf(stopping.reason);
  }
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
