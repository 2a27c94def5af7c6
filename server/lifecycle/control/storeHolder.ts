/** Names the process that has a store open. */
import {findHolder} from "../../../storage/directory/lockHolder.ts";
import {readControlFile} from "./controlFile.ts";

/** @returns a clause that names the process and says how that is known, or that it is unknown */
export function describeHolder(directory: string): string {
  const holder = findHolder(directory);
  if (holder !== undefined) return `process ${holder} holds its lock (/proc/locks)`;
  try {
    const {pid} = readControlFile(directory) ?? {};
    if (pid !== undefined && process.kill(pid, 0))
      return `process ${pid} wrote its control.json, and is still there`;
  } catch {
    // It is gone, or the file is another user's.
  }
  return "no control.json names the process";
}
