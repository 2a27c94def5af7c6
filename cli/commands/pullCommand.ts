/** `proofd pull`: whole states, or parts of them, verified and written into files. `--verify` checks such files. */

import {formatMegabytes} from "../../bench/load/report/figureText.ts";
import {encodeHex} from "../../client/bytes/hex.ts";
import {count} from "../../client/bytes/values.ts";
import {type Manifest, readManifest} from "../../pulled/folder/manifest.ts";
import {PulledError} from "../../pulled/pulledError.ts";
import {WorkError} from "../../service/workError.ts";
import {ExitCode, exitCodeOf, type StopSignal, watchSignals} from "../exitCode.ts";
import type {FolderVerification, PullOptions} from "../flags/pullFlags.ts";
import {checkFolder} from "./pull/folderCheck.ts";
import {PullProgress} from "./pull/pullProgress.ts";
import {runPull} from "./pull/pullRun.ts";
import {readTrustedRoot} from "./trustedRoot.ts";

/** @returns the exit code. @throws WorkError if something does not verify or cannot be done */
export async function runPullCommand(options: PullOptions | FolderVerification): Promise<number> {
  return "folder" in options ? verifyFolder(options) : pull(options);
}

async function pull(options: PullOptions): Promise<number> {
  const stop = new AbortController();
  let stopped: StopSignal | undefined;
  const unwatch = watchSignals(signal => {
    stopped = signal;
    stop.abort(new WorkError(`${signal} came`));
  });
  try {
    const {root: trustedRoot, by} = await readTrustedRoot(options.root);
    const progress = new PullProgress(process.stderr);
    const manifest = await runPull(options, {trustedRoot, progress, signal: stop.signal});
    process.stdout.write(describeManifest(options.out, manifest, by));
    return ExitCode.OK;
  } catch (error) {
    if (stopped === undefined || !(error instanceof WorkError)) throw error;
    process.stderr.write(`error: ${error.message}\n`);
    return exitCodeOf(stopped);
  } finally {
    unwatch();
  }
}

async function verifyFolder({folder, root}: FolderVerification): Promise<number> {
  try {
    const manifest = readManifest(folder);
    const trusted = root && (await readTrustedRoot(root(manifest.block.number)));
    const {stateRoot} = manifest.block;
    if (trusted !== undefined && encodeHex(trusted.root) !== stateRoot)
      throw new WorkError(
        `--verify ${folder}: expected the root ${encodeHex(trusted.root)}, ${trusted.by}, got a pull under the root ${stateRoot}`,
      );
    await checkFolder(folder, manifest);
    process.stdout.write(describeManifest(folder, manifest, trusted?.by ?? "that of its manifest"));
    return ExitCode.OK;
  } catch (error) {
    if (error instanceof PulledError) throw new WorkError(`--verify: ${error.message}`, {cause: error});
    throw error;
  }
}

function describeManifest(folder: string, {rows, block, parts}: Manifest, by: string): string {
  const nouns = {
    ...{accounts: "account", trees: "storage tree", slots: "slot"},
    ...{values: "value", absent: "absent account"},
  };
  const counts = Object.entries(nouns).flatMap(([table, noun]) => {
    const held = rows[table as keyof typeof nouns];
    return held === undefined ? [] : [count(held, noun)];
  });
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  return (
    `VERIFIED: ${counts.length === 0 ? "no rows" : counts.join(", ")} of block ${block.number} under the root ${block.stateRoot}, ${by}\n` +
    `${folder} has ${count(parts.length, "part")}, ${formatMegabytes(bytes)}\n`
  );
}
