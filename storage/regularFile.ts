/** Opens regular files only: reading a pipe or a device might block, or never end. */
import {closeSync, constants, fstatSync, openSync, readFileSync, type Stats} from "node:fs";

/** Does not block until a pipe has a writer. */
export const READ_AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK;

/** @returns the descriptor, which the caller closes. @throws Error if it is not a regular file; the system's errors */
export function openFile(path: string): number {
  const fd = openSync(path, READ_AT_ONCE);
  const kind = kindOf(fstatSync(fd));
  if (kind === "a file") return fd;
  closeSync(fd);
  throw new Error(`expected a file, got ${kind}`);
}

/** @throws Error if it is not a regular file; the system's errors */
export function readWholeFile(path: string): Buffer {
  const fd = openFile(path);
  try {
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

export function kindOf(stats: Stats): string {
  if (stats.isFile()) return "a file";
  if (stats.isDirectory()) return "a folder";
  return stats.isFIFO() ? "a pipe" : "a device";
}

/** @throws the system's errors, and what `use` throws */
export function withFile<T>(path: string, flags: string, use: (file: number) => T): T {
  const file = openSync(path, flags);
  try {
    return use(file);
  } finally {
    closeSync(file);
  }
}
