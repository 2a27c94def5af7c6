/** A store whose records lie in one table of LevelDB, and copies of it that a test damages. */
import {cp, readdir, readFile, rm, symlink, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {encodeLines} from "../chains/differenceLine.ts";
import {longChain} from "../chains/longChain.ts";
import {makeTemporaryFolder} from "../temporaryFolder.ts";
import {importSource, openEngine} from "./importedStore.ts";
import {tableParts} from "./tableParts.ts";

/** The store holds blocks 0 to BLOCKS - 1. */
export const BLOCKS = 4;

/** In place of the file a symlink to itself, which the system does not open. */
export async function makeLoop(directory: string, name: string): Promise<void> {
  await rm(join(directory, name));
  await symlink(name, join(directory, name));
}

export class TableStore {
  private copies = 0;

  private constructor(
    readonly folder: string,
    readonly whole: string,
    /** Number of the table. */
    readonly table: number,
  ) {}

  static async create(): Promise<TableStore> {
    const folder = makeTemporaryFolder();
    const whole = join(folder, "whole");
    const path = join(folder, "chain.ndjson");
    await writeFile(path, encodeLines(longChain(BLOCKS, 60)));
    await importSource(whole, {kind: "diffs", path}, {finalized: "last"});
    // Opening writes the log out as a table.
    await (await openEngine(whole)).close();
    const [name, ...others] = (await readdir(whole)).filter(one => one.endsWith(".ldb"));
    if (name === undefined || others.length > 0) throw new Error("expected one table");
    return new TableStore(folder, whole, Number.parseInt(name, 10));
  }

  get file(): string {
    return `${String(this.table).padStart(6, "0")}.ldb`;
  }

  async copy(): Promise<string> {
    const directory = join(this.folder, `copy-${this.copies++}`);
    await cp(this.whole, directory, {recursive: true, preserveTimestamps: true});
    return directory;
  }

  async flip(directory: string, at: number, bit: number): Promise<void> {
    const path = join(directory, this.file);
    const bytes = await readFile(path);
    bytes[at] = (bytes[at] as number) ^ (1 << bit);
    await writeFile(path, bytes);
  }

  /** A byte of a page in the middle of the table, where LevelDB itself notices nothing. */
  byteOfAPage(directory: string): number {
    const {data} = tableParts(directory, this.table);
    const block = data[data.length >> 1] as {offset: number; size: number};
    return block.offset + (block.size >> 1);
  }
}
