/** A chain for wire tests. */
import {join} from "node:path";
import {importLines} from "../stores/importedStore.ts";
import {makeTemporaryFolder} from "../temporaryFolder.ts";
import {createLines} from "./serviceLines.ts";

export {ABSENT_ACCOUNT, ACCOUNTS, CHAIN_ID, createLine, createLines, hashOfBlock} from "./serviceLines.ts";

/** Flags of `import` and `serve`. @param path - of the differences; - is standard input */
export function diffsFlags(db: string, path: string): string[] {
  return ["--db", db, "--allow-unverified", "--diffs", path];
}

/** A folder in the system's temporary folder. */
export class WorkFolder {
  readonly path = makeTemporaryFolder();

  file(name: string): string {
    return join(this.path, name);
  }

  /** Imports blocks 0 to `last` into the store `name`, finalized up to `finalized`. @returns its folder */
  async importChain(name: string, last: number, finalized: number): Promise<string> {
    const db = this.file(name);
    await importLines(db, createLines(0, last), {finalized});
    return db;
  }
}
