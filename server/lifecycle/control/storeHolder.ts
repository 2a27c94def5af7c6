/** Names the process that has a store open. */
import {findHolder} from "../../../storage/directory/lock.ts";
import {readControlFile} from "./controlFile.ts";

/** @returns the process that has the store open, and how that is known */
export function describeHolder(directory: string): string {
  const holder = findHolder(directory);
  if (holder !== undefined) return `process ${holder} holds its lock (/proc/locks)`;
  const pid = readPid(directory);
  return pid === undefined
    ? "no control.json names the process"
    : `process ${pid} wrote its control.json, and is still there`;
}

function readPid(directory: string): number | undefined {
  try {
    const pid = readControlFile(directory)?.pid;
    if (pid !== undefined) process.kill(pid, 0);
    return pid;
  } catch {
    return undefined; // it is gone, or the file is another user's
  }
}
