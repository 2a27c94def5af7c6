/**
 * A store's files as of one moment, taken into another folder, for a snapshot. It takes no lock, holds no writer up and changes
 * nothing in the store.
 *
 *   tables      linked. Where the file system makes no links: held open, then copied
 *   manifest    copied; its records up to some moment say which tables and logs there were
 *   logs        held open, and copied up to their size of that moment
 *
 * Together they are what kill -9 at that moment would have left. LevelDB appends to a log and to the manifest only, a record of
 * the log is a whole batch, and a table never changes. A table or a log may be deleted at any time after the manifest says so:
 * then all is taken again, except for the tables that are taken already.
 */
import {closeSync, existsSync, fstatSync, linkSync, openSync, read, rmSync} from "node:fs";
import {copyFile, type FileHandle, open, readdir} from "node:fs/promises";
import {join} from "node:path";
import {promisify} from "node:util";
import {StoreError} from "../errors.ts";
import {NOTE_FILE} from "./acknowledgedNote.ts";
import {FileDamage, findingOf} from "./fileDamage.ts";
import {logName, tableName} from "./fileNames.ts";
import {readLog} from "./logFile.ts";
import {liveLogs, readManifest, readUnchanged} from "./manifest.ts";

/** The file system makes no link: to another one, to this file, or at all. */
const NO_LINK = ["EXDEV", "EPERM", "EMLINK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];
const CHUNK_BYTES = 1 << 20;

const readOpen = promisify(read);

export interface TakenBytes {
  /** In tables that are links. */
  readonly linked: number;
  readonly copied: number;
}

/** A file that may be deleted while it is copied. */
interface HeldFile {
  readonly file: number;
  readonly bytes: number;
}

export class TakenFiles {
  /** By number; undefined for a link. */
  private readonly tables = new Map<number, HeldFile | undefined>();
  /** By number, in LevelDB's order. */
  private logs = new Map<number, HeldFile>();
  private manifest = "";
  private linked = 0;

  private constructor(
    private readonly directory: string,
    private readonly folder: string,
  ) {}

  /**
   * @param folder - empty
   * @throws FileDamage; StoreError STORE_UNREADABLE, WRITE_FAILED
   */
  static async take(directory: string, folder: string): Promise<TakenFiles> {
    const taken = new TakenFiles(directory, folder);
    try {
      await readUnchanged(directory, ({name}) => taken.takeAll(name));
      return taken;
    } catch (error) {
      taken.close();
      throw error;
    }
  }

  /**
   * Copies what is not linked. All copies are synced then.
   *
   * @param onCopied - called with the bytes of each piece
   * @throws FileDamage, StoreError WRITE_FAILED, the signal's reason
   */
  async copy(onCopied: (bytes: number) => void, signal: AbortSignal): Promise<TakenBytes> {
    let copied = 0;
    const count = (bytes: number): void => {
      signal.throwIfAborted();
      copied += bytes;
      onCopied(bytes);
    };
    await this.write("CURRENT", "r+", file => file.sync());
    await this.endWhole(this.manifest);
    for (const [number, held] of this.tables)
      if (held !== undefined) await this.copyHeld(tableName(number), held, count);
    for (const [number, held] of this.logs) await this.copyHeld(logName(number), held, count);
    const newest = [...this.logs.keys()].at(-1);
    if (newest !== undefined) await this.endWhole(logName(newest));
    return {linked: this.linked, copied};
  }

  close(): void {
    for (const held of this.tables.values()) if (held !== undefined) closeSync(held.file);
    this.tables.clear();
    this.closeLogs();
  }

  /** What was taken before and is still wanted stays. */
  private async takeAll(manifest: string): Promise<void> {
    // First: a note says what the logs hold by then.
    await this.copySmall(NOTE_FILE);
    if (this.manifest !== manifest) rmSync(join(this.folder, this.manifest || manifest), {force: true});
    this.manifest = manifest;
    await this.copySmall(manifest);
    await this.write("CURRENT", "w", file => file.writeFile(`${manifest}\n`));
    // The copy says what is taken. The manifest may have grown.
    const wanted = await readManifest(this.folder);
    for (const number of [...this.tables.keys()]) if (!wanted.tables.has(number)) this.dropTable(number);
    for (const {number, size} of wanted.tables.values())
      if (!this.tables.has(number)) this.tables.set(number, this.takeTable(tableName(number), size));
    this.linked = [...wanted.tables.values()]
      .filter(({number}) => this.tables.get(number) === undefined)
      .reduce((sum, {size}) => sum + size, 0);
    this.closeLogs();
    // All logs but the newest of these are complete, so their sizes are of one moment.
    for (const number of liveLogs(await readdir(this.directory), wanted))
      this.logs.set(number, this.hold(logName(number)));
  }

  /** @returns undefined for a link */
  private takeTable(name: string, bytes: number): HeldFile | undefined {
    const [from, to] = [join(this.directory, name), join(this.folder, name)];
    try {
      linkSync(from, to);
      return undefined;
    } catch (error) {
      const {code = "", message} = error as NodeJS.ErrnoException;
      if (NO_LINK.includes(code)) return {...this.hold(name), bytes};
      if (code === "ENOENT" && !existsSync(from)) throw missing(name, this.manifest);
      throw new StoreError("WRITE_FAILED", `cannot link ${to}: ${message}`, {cause: error});
    }
  }

  private dropTable(number: number): void {
    const held = this.tables.get(number);
    if (held === undefined) rmSync(join(this.folder, tableName(number)), {force: true});
    else closeSync(held.file);
    this.tables.delete(number);
  }

  private hold(name: string): HeldFile {
    let file: number;
    try {
      file = openSync(join(this.directory, name), "r");
    } catch (error) {
      const {code, message} = error as NodeJS.ErrnoException;
      if (code === "ENOENT") throw missing(name, this.manifest);
      if (code === "EMFILE" || code === "ENFILE")
        throw new StoreError("STORE_UNREADABLE", `all files are held open while they are copied: ${message}`);
      throw new FileDamage(findingOf(error, name));
    }
    return {file, bytes: fstatSync(file).size};
  }

  private closeLogs(): void {
    for (const {file} of this.logs.values()) closeSync(file);
    this.logs.clear();
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

  private async copyHeld(
    name: string,
    {file, bytes}: HeldFile,
    onCopied: (bytes: number) => void,
  ): Promise<void> {
    const chunk = Buffer.allocUnsafe(Math.min(bytes, CHUNK_BYTES));
    await this.write(name, "w", async copy => {
      for (let at = 0; at < bytes; ) {
        const {bytesRead} = await readOpen(file, chunk, 0, Math.min(chunk.length, bytes - at), at).catch(
          (error: unknown) => {
            throw new FileDamage(findingOf(error, name));
          },
        );
        if (bytesRead === 0) return; // the sizes are verified later
        for (let from = 0; from < bytesRead; )
          from += (await copy.write(chunk, from, bytesRead - from)).bytesWritten;
        at += bytesRead;
        onCopied(bytesRead);
      }
      await copy.sync();
    });
  }

  /** Cuts off a record that was being written, and syncs the file. Damage stays to be found. */
  private async endWhole(name: string): Promise<void> {
    const {end, torn} = await readLog(join(this.folder, name));
    await this.write(name, "r+", async file => {
      if (torn !== undefined) await file.truncate(end);
      await file.sync();
    });
  }

  private async write(
    name: string,
    flags: "r+" | "w",
    use: (file: FileHandle) => Promise<void>,
  ): Promise<void> {
    const path = join(this.folder, name);
    let file: FileHandle | undefined;
    try {
      file = await open(path, flags);
      await use(file);
    } catch (error) {
      throw cannotWrite(path, error);
    } finally {
      await file?.close();
    }
  }
}

function missing(name: string, manifest: string): FileDamage {
  const what = `it is not there, although ${manifest} names it`;
  return new FileDamage({file: name, offset: undefined, what});
}

/** @returns an error of this module, or of an abort, as it is */
function cannotWrite(path: string, error: unknown): unknown {
  if (!(error instanceof Error && "syscall" in error)) return error;
  return new StoreError("WRITE_FAILED", `cannot write ${path}: ${error.message}`, {cause: error});
}
