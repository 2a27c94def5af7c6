/** A chain for wire tests, imported by the built `proofd`. */
import {mkdtemp, rm, writeFile} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {runProofd} from "../processes/daemon.ts";
import {encodeLines} from "./differenceLine.ts";
import {createLines} from "./serviceLines.ts";

export {ABSENT_ACCOUNT, ACCOUNTS, CHAIN_ID, createLine, createLines, hashOfBlock} from "./serviceLines.ts";

/** A folder in the system's temporary folder. `remove` deletes it. */
export class WorkFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(): Promise<WorkFolder> {
    return new WorkFolder(await mkdtemp(join(tmpdir(), "proofd-wire-")));
  }

  file(name: string): string {
    return join(this.path, name);
  }

  /** Imports blocks 0 to `last` into the store `name`, finalized up to `finalized`. @returns its folder */
  async importChain(name: string, last: number, finalized: number): Promise<string> {
    const db = this.file(name);
    const lines = this.file(`${name}.ndjson`);
    await writeFile(lines, encodeLines(createLines(0, last)));
    const {code, stderr} = await runProofd([
      "import",
      "--db",
      db,
      "--diffs",
      lines,
      "--finalized",
      String(finalized),
    ]);
    if (code !== 0) throw new Error(stderr);
    return db;
  }

  async remove(): Promise<void> {
    await rm(this.path, {recursive: true});
  }
}
