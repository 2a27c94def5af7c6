/** A file that is not complete yet, under a name of its own. */
import {openSync, rmSync} from "node:fs";
import {withFile} from "./pulledError.ts";

export const PARTIAL = ".partial";

/** Opens a new file for writing: what has its name, such as a link to another file, is removed and not followed. */
export function openNew(path: string): number {
  return withFile(path, "write", () => {
    rmSync(path, {force: true});
    return openSync(path, "wx");
  });
}
