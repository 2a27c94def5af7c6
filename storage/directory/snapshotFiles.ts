/**
 * Copies a store's files as of one moment into another folder, for a snapshot. It takes no lock, does not delay writers
 * and changes nothing in the store.
 *
 *   tables      hard links. If the file system makes none: opened, then copied
 *   manifest    copied; its records up to some moment say which tables and logs there were
 *   logs        opened, and copied up to their size at that moment
 *
 * Together they are what kill -9 at that moment would have left. LevelDB appends to a log and to the manifest only, a
 * record of the log is a whole batch, and a table never changes. A table or a log may be deleted at any time after the
 * manifest says so: then all is taken again, except for the tables that are taken already.
 *
 * LOCK is never opened: if this process has the store open, closing that file would release LevelDB's lock.
 */
import {existsSync, linkSync, rmSync} from "node:fs";
import {copyFile, readdir} from "node:fs/promises";
import {join} from "node:path";
import {StoreError} from "../errors.ts";
import {FileDamage, missingFile} from "../leveldb/fileDamage.ts";
import {logName, tableName} from "../leveldb/fileNames.ts";
import {readLog} from "../leveldb/logFile.ts";
import {liveLogs, readManifest, readUnchanged} from "../leveldb/manifest.ts";
import {NOTE_FILE} from "./acknowledgedNote.ts";
import {cannotWrite, OpenedFile, writeFileAt} from "./openedFile.ts";

/** The file system makes no link: to another one, to this file, or at all. */
const NO_LINK = ["EXDEV", "EPERM", "EMLINK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];
export interface TakenBytes {
  readonly linked: number;
  readonly copied: number;
}

export class SnapshotFiles {
  /** By number; undefined for a link. */
  private readonly tables = new Map<number, OpenedFile | undefined>();
  private readonly logs: OpenedFile[] = [];
  private manifest = "";
  private linked = 0;

  private constructor(
    private readonly directory: string,
    private readonly folder: string,
  ) {}

  /** @param folder - empty. @throws FileDamage; StoreError STORE_UNREADABLE, WRITE_FAILED */
  static async take(directory: string, folder: string): Promise<SnapshotFiles> {
    const taken = new SnapshotFiles(directory, folder);
    try {
      await readUnchanged(directory, ({name}) => taken.takeAll(name));
      return taken;
    } catch (error) {
      taken.close();
      throw error;
    }
  }

  /** Copies what is not linked, synced. @throws FileDamage, StoreError WRITE_FAILED, the signal's reason */
  async copy(onCopied: (bytes: number) => void, signal: AbortSignal): Promise<TakenBytes> {
    let copied = 0;
    const count = (bytes: number): void => {
      signal.throwIfAborted();
      copied += bytes;
      onCopied(bytes);
    };
    await writeFileAt(join(this.folder, "CURRENT"), "r+", file => file.sync());
    await this.endWhole(this.manifest);
    for (const file of [...this.tables.values(), ...this.logs]) await file?.copyTo(this.folder, count);
    const newest = this.logs.at(-1);
    if (newest !== undefined) await this.endWhole(newest.name);
    return {linked: this.linked, copied};
  }

  close(): void {
    for (const file of this.tables.values()) file?.close();
    this.tables.clear();
    this.closeLogs();
  }

  /** Files that an earlier attempt took stay, if the manifest still names them. */
  private async takeAll(manifest: string): Promise<void> {
    // The note first: the logs have its blocks by then.
    await this.copySmall(NOTE_FILE);
    if (this.manifest !== "" && this.manifest !== manifest) rmSync(join(this.folder, this.manifest));
    this.manifest = manifest;
    await this.copySmall(manifest);
    await writeFileAt(join(this.folder, "CURRENT"), "w", file => file.writeFile(`${manifest}\n`));
    // The copy says what is taken. The manifest may have grown.
    const wanted = await readManifest(this.folder);
    for (const number of [...this.tables.keys()]) if (!wanted.tables.has(number)) this.dropTable(number);
    for (const number of wanted.tables.keys())
      if (!this.tables.has(number)) this.tables.set(number, this.takeTable(tableName(number)));
    this.linked = [...wanted.tables.values()]
      .filter(({number}) => this.tables.get(number) === undefined)
      .reduce((sum, {size}) => sum + size, 0);
    this.closeLogs();
    // All logs but the newest of these are complete, so their sizes are of one moment.
    for (const number of liveLogs(await readdir(this.directory), wanted))
      this.logs.push(OpenedFile.open(this.directory, logName(number), manifest));
  }

  private takeTable(name: string): OpenedFile | undefined {
    const [from, to] = [join(this.directory, name), join(this.folder, name)];
    try {
      linkSync(from, to);
      return undefined;
    } catch (error) {
      const {code = "", message} = error as NodeJS.ErrnoException;
      if (NO_LINK.includes(code)) return OpenedFile.open(this.directory, name, this.manifest);
      if (code === "ENOENT" && !existsSync(from)) throw new FileDamage(missingFile(name, this.manifest));
      throw new StoreError("WRITE_FAILED", `cannot link ${to}: ${message}`, {cause: error});
    }
  }

  private dropTable(number: number): void {
    const file = this.tables.get(number);
    if (file === undefined) rmSync(join(this.folder, tableName(number)), {force: true});
    else file.close();
    this.tables.delete(number);
  }

  private closeLogs(): void {
    for (const log of this.logs.splice(0)) log.close();
  }

  /** Copies a file that is replaced or appended to; none if there is none. */
  private async copySmall(name: string): Promise<void> {
    const [from, to] = [join(this.directory, name), join(this.folder, name)];
    try {
      await copyFile(from, to);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || existsSync(from))
        throw cannotWrite(to, error);
      rmSync(to, {force: true});
    }
  }

  /** Truncates a record that was being written, and syncs the file. Damage is left for the verification. */
  private async endWhole(name: string): Promise<void> {
    const path = join(this.folder, name);
    const {end, torn} = await readLog(path);
    await writeFileAt(path, "r+", async file => {
      if (torn !== undefined) await file.truncate(end);
      await file.sync();
    });
  }
}
