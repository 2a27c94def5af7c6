/**
 * Copies a store at almost no cost: LevelDB never changes a table file once it is written, so both stores can share it.
 *
 *   *.ldb    linked: a file removed in one store stays in the other
 *   others   copied: CURRENT, MANIFEST, the log
 */
import {copyFileSync, linkSync, mkdirSync, readdirSync, rmSync} from "node:fs";
import {join} from "node:path";

/** @param to - replaced if it exists; must be on the same file system. No process may have `from` open */
export function copyStore(from: string, to: string): void {
  rmSync(to, {recursive: true, force: true});
  mkdirSync(to, {recursive: true});
  for (const name of readdirSync(from)) {
    if (name.endsWith(".ldb")) linkSync(join(from, name), join(to, name));
    else if (name !== "LOCK") copyFileSync(join(from, name), join(to, name));
  }
}
