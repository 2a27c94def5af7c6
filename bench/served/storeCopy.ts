/**
 * A copy of a store that costs nothing: LevelDB never changes a table file once it is written, so both can have it.
 *
 *   *.ldb    linked: removing it in one store leaves the other's
 *   others   copied: CURRENT, MANIFEST, the log
 */
import {copyFileSync, linkSync, mkdirSync, readdirSync, rmSync} from "node:fs";
import {join} from "node:path";

/** @param to - replaced where it exists; on the same file system. No process may have `from` open */
export function copyStore(from: string, to: string): void {
  rmSync(to, {recursive: true, force: true});
  mkdirSync(to, {recursive: true});
  for (const name of readdirSync(from)) {
    if (name.endsWith(".ldb")) linkSync(join(from, name), join(to, name));
    else if (name !== "LOCK") copyFileSync(join(from, name), join(to, name));
  }
}
