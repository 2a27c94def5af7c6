/**
 * Copies a store quickly: LevelDB never modifies a table file, so that both stores can share it.
 *
 *   *.ldb    hard links: a file that one store deletes stays in the other
 *   others   copies: CURRENT, MANIFEST, the log
 */
import {copyFileSync, linkSync, mkdirSync, readdirSync, rmSync} from "node:fs";
import {join} from "node:path";

/** @param from - not opened by a process. @param to - replaced if it exists; on the same file system */
export function copyStore(from: string, to: string): void {
  rmSync(to, {recursive: true, force: true});
  mkdirSync(to, {recursive: true});
  for (const name of readdirSync(from)) {
    if (name.endsWith(".ldb")) linkSync(join(from, name), join(to, name));
    else if (name !== "LOCK") copyFileSync(join(from, name), join(to, name));
  }
}
