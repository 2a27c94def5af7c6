/** Folders in the system's temporary folder, which the process removes when it ends: by then nothing writes to them any more. */
import {mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";

const made: string[] = [];

process.once("exit", () => {
  // A child process that was killed a moment ago may still hold files, so it tries again.
  for (const folder of made) rmSync(folder, {recursive: true, force: true, maxRetries: 5});
});

export function makeTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "proofd-test-"));
  made.push(folder);
  return folder;
}
