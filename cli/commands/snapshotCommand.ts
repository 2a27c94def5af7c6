/** `proofd snapshot`: a backup of a store, also while another proofd serves it or imports into it. */

import {codeOf, storeFailed} from "../../server/lifecycle/workError.ts";
import type {Leftover} from "../../storage/directory/draftFolder.ts";
import {toHex} from "../../storage/hex.ts";
import {makeSnapshot, type Snapshot} from "../../storage/storeSnapshot.ts";
import {ExitCode, exitCodeOf, watchSignals} from "../exitCode.ts";

const PROGRESS_EVERY_MS = 3_000;
const MB = 1e6;

/** @returns the exit code. If a signal stopped the snapshot, it is that of the signal, and nothing is left at `out` */
export async function runSnapshot({db, out}: {readonly db: string; readonly out: string}): Promise<number> {
  const startMs = performance.now();
  const signal = watchSignals();
  try {
    const reports = {onCopied: createProgress(), onLeftover: reportLeftover};
    const snapshot = await makeSnapshot({directory: db, out, ...reports, signal});
    process.stdout.write(`${describe(out, snapshot, performance.now() - startMs)}\n`);
    return ExitCode.OK;
  } catch (error) {
    if (signal.reason !== undefined && error === signal.reason) {
      process.stderr.write(`${error}: stopped; no snapshot is made\n`);
      return exitCodeOf(signal.reason);
    }
    const code = codeOf(error);
    if (code === undefined) throw error;
    const reason = (error as Error).message;
    throw storeFailed(code, `cannot make a snapshot of the store in ${db}: ${reason}`, error);
  }
}

function reportLeftover({path, reason}: Leftover): void {
  process.stderr.write(
    reason === undefined
      ? `snapshot: removed ${path}, which another snapshot had left unfinished\n`
      : `snapshot: ${path} is of another snapshot, and is not removed: ${reason}\n`,
  );
}

function createProgress(): (bytes: number) => void {
  let nextMs = performance.now() + PROGRESS_EVERY_MS;
  let copied = 0;
  return bytes => {
    copied += bytes;
    if (performance.now() < nextMs) return;
    nextMs = performance.now() + PROGRESS_EVERY_MS;
    process.stderr.write(`snapshot: copied ${(copied / MB).toFixed(0)} MB\n`);
  };
}

function describe(out: string, {block, hash, stateRoot, finalized, bytes}: Snapshot, ms: number): string {
  return JSON.stringify({
    msg: "snapshot",
    out,
    block,
    hash: toHex(hash),
    stateRoot: toHex(stateRoot),
    finalized: finalized ?? null,
    linkedBytes: bytes.linked,
    copiedBytes: bytes.copied,
    ms: Math.round(ms),
  });
}
