/** What the disk lacks before a store can be opened and written again after a refused write. */
import {fsyncSync, readdirSync, rmSync, statfsSync, statSync, writeSync} from "node:fs";
import {join} from "node:path";
import {logNumber} from "../leveldb/fileNames.ts";
import {withFile} from "../regularFile.ts";
import {NOTE_DRAFT_FILE} from "./acknowledgedNote.ts";

/** In addition to the logs, which LevelDB writes out as tables when it opens: a batch and its manifest. */
const SPARE_BYTES = 16 << 20;
/** Written as a trial: a disk may also be read-only, or full for this user. */
const TRIAL_BYTES = 1 << 20;
const MB = 1e6;

/** @returns the condition that is not met, as the end of "nothing is written until ..."; undefined if all are met */
export function missingSpace(directory: string): string | undefined {
  const draft = join(directory, NOTE_DRAFT_FILE);
  try {
    const {bavail, bsize} = statfsSync(directory);
    const logs = readdirSync(directory).filter(name => logNumber(name) !== undefined);
    const needed = logs.reduce((sum, name) => sum + statSync(join(directory, name)).size, SPARE_BYTES);
    const free = bavail * bsize;
    if (free < needed)
      return `the disk has ${Math.ceil(needed / MB)} MB of free space (now ${Math.floor(free / MB)} MB)`;
    withFile(draft, "w", file => {
      for (let left = TRIAL_BYTES; left > 0; ) left -= writeSync(file, Buffer.alloc(left));
      fsyncSync(file);
    });
    return undefined;
  } catch {
    return "the disk takes writes again"; // the refused write was reported with its cause
  } finally {
    removeTrial(draft);
  }
}

function removeTrial(draft: string): void {
  try {
    rmSync(draft, {force: true});
  } catch {
    // LevelDB and proofd ignore the file.
  }
}
