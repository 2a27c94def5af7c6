/**
 * Writes the folder of a pull:
 *
 *   rows -> a part of each table -> one part is full: all are finished, and the journal names them -> .. -> the manifest
 *
 * A pull that is stopped leaves its unfinished parts as drafts. A resumed pull begins its first parts with the rows of
 * the drafts, so that its parts equal those of a pull that was never stopped. After a kill at any moment, the parts and
 * drafts that the journal names are complete; everything else is removed and pulled again.
 */
import {existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, statSync} from "node:fs";
import {dirname, join, resolve} from "node:path";
import {Journal, requireSamePull} from "./journal.ts";
import {JOURNAL, MANIFEST, type Manifest, readManifest, syncFolder, writeManifest} from "./manifest.ts";
import type {AskedPull} from "./manifestParts.ts";
import {checkPart, PARTIAL, type Part, PartFile, partName, readPart} from "./partFile.ts";
import {PulledError, withFile} from "./pulledError.ts";
import {type RowsOf, TABLE_NAMES, TABLES, type TableName} from "./row/tables.ts";
import {TableReader} from "./tableReader.ts";

/** All parts are finished when one has so many bytes: with more, a kill loses more; with less, there are more files. */
export const PART_BYTES = 32 << 20;

const ROOT = 0;

/** `Place` is JSON of the caller: where the pull continues. */
export class FolderWriter<Place> {
  private readonly open = new Map<TableName, PartFile>();
  private parts: readonly Part[];
  private drafts: readonly Part[];
  private isComplete = false;

  private constructor(
    private readonly folder: string,
    private readonly asked: AskedPull,
    private readonly journal: Journal<Place>,
    private readonly partBytes: number,
    /** The outermost folder that was created for the pull, if any. */
    private readonly created?: string | undefined,
  ) {
    ({parts: this.parts, drafts: this.drafts} = journal.begun);
  }

  /** Creates the folder. @throws PulledError OTHER_PULL unless it is new or empty; FILE_FAILED, as all methods */
  static create<Place>(folder: string, asked: AskedPull, partBytes = PART_BYTES): FolderWriter<Place> {
    const created = withFile(folder, "write", () => mkdirSync(folder, {recursive: true}));
    requireOwn(folder);
    const names = listFiles(folder);
    if (names.length > 0) {
      const problem = names.includes(MANIFEST)
        ? "has a complete pull"
        : names.includes(JOURNAL)
          ? "has a pull that is not complete: --resume continues it"
          : "is not empty";
      throw new PulledError("OTHER_PULL", `${folder} ${problem}`);
    }
    return new FolderWriter(folder, asked, Journal.create<Place>(folder, asked), partBytes, created);
  }

  /**
   * Continues in the folder, or begins in a new or empty one, so that the same command can be run until it succeeds.
   *
   * @returns the manifest if the pull is complete
   * @throws PulledError NO_PULL, OTHER_PULL that names what differs, DAMAGED
   */
  static async resume<Place>(
    folder: string,
    asked: AskedPull,
    partBytes = PART_BYTES,
  ): Promise<FolderWriter<Place> | Manifest> {
    const names = existsSync(folder) ? listFiles(folder) : [];
    if (names.length > 0) requireOwn(folder);
    if (names.includes(MANIFEST)) {
      const manifest = readManifest(folder);
      requireSamePull(folder, manifest.asked, asked);
      for (const part of manifest.parts) await checkPart(folder, part);
      // The process may have ended between the last two steps.
      rmSync(join(folder, JOURNAL), {force: true});
      return manifest;
    }
    if (names.length === 0) return FolderWriter.create(folder, asked, partBytes);
    if (!names.includes(JOURNAL))
      throw new PulledError("NO_PULL", `${folder}: expected a pull to resume, got none`);
    const writer = new FolderWriter(folder, asked, Journal.open<Place>(folder, asked), partBytes);
    try {
      removeUnfinished(folder, asked, [...writer.parts, ...writer.drafts]);
      for (const part of writer.parts) await checkPart(folder, part);
      for (const draft of writer.drafts)
        for await (const rows of readPart(folder, draft, asked.format))
          for (const row of rows) writer.add(draft.table, row as never);
    } catch (error) {
      writer.close();
      throw error;
    }
    return writer;
  }

  /** Where a resumed pull continues. undefined: at the beginning. */
  get place(): Place | undefined {
    return this.journal.begun.place;
  }

  /** Rows of finished parts and drafts, which stay in the folder. */
  get keptRows(): number {
    return [...this.parts, ...this.drafts].reduce((sum, {rows}) => sum + rows, 0);
  }

  rows(table: TableName): number {
    const finished = this.parts.reduce((sum, part) => sum + (part.table === table ? part.rows : 0), 0);
    return finished + (this.open.get(table)?.rows ?? 0);
  }

  readFinished<Name extends TableName>(table: Name): TableReader<Name> {
    return new TableReader(this.folder, {asked: this.asked, parts: this.parts}, table);
  }

  add<Name extends TableName>(table: Name, row: RowsOf[Name]): void {
    let part = this.open.get(table);
    if (part === undefined) {
      const number = this.parts.filter(finished => finished.table === table).length + 1;
      part = new PartFile(this.folder, table, partName(table, number, this.asked.format), this.asked.format);
      this.open.set(table, part);
    }
    part.add(row);
  }

  /** Whether a part is full. It depends on the rows alone, so a resumed pull makes the same parts. */
  get isDue(): boolean {
    for (const {bytes} of this.open.values()) if (bytes >= this.partBytes) return true;
    return false;
  }

  /** Finishes the open parts, so that their rows are kept. @param place - where the pull continues after them */
  finishParts(place: Place): void {
    const finished = this.endParts("parts", place);
    this.parts = [...this.parts, ...finished];
    if (finished.length > 0) this.drafts = [];
  }

  /** Keeps the open parts as drafts, when the pull stops. @param place - where it continues when it is resumed */
  keepDrafts(place: Place): void {
    const drafts = this.endParts("drafts", place);
    if (drafts.length > 0) this.drafts = drafts;
  }

  complete(
    place: Place,
    manifest: Pick<Manifest, "command" | "block" | "accountTree" | "context">,
  ): Manifest {
    this.finishParts(place);
    this.isComplete = true;
    const parts = TABLE_NAMES.flatMap(name => this.parts.filter(({table}) => table === name));
    writeManifest(this.folder, {...manifest, asked: this.asked, parts});
    syncFolder(this.folder);
    rmSync(join(this.folder, JOURNAL));
    return readManifest(this.folder);
  }

  /** Removes open parts; after a pull that kept nothing, everything that was created for it. */
  close(): void {
    for (const part of this.open.values()) part.discard();
    this.open.clear();
    this.journal.close();
    if (this.isComplete || this.keptRows > 0 || listFiles(this.folder).join() !== JOURNAL) return;
    rmSync(join(this.folder, JOURNAL));
    for (let path = resolve(this.folder); this.created !== undefined; path = dirname(path)) {
      rmdirSync(path);
      if (path === resolve(this.created)) return;
    }
  }

  private endParts(kind: "parts" | "drafts", place: Place): readonly Part[] {
    if (this.open.size === 0) return [];
    const suffix = kind === "drafts" ? this.journal.nextSuffix : "";
    const ended = [...this.open.values()].map(part => part.finish(suffix));
    this.open.clear();
    syncFolder(this.folder);
    this.journal.add(kind, ended, place);
    // The new parts have their rows.
    for (const {file} of this.journal.begun.drafts) rmSync(join(this.folder, file), {force: true});
    return ended;
  }
}

/** @throws PulledError OTHER_PULL for a folder of another user, who could replace its parts or plant links */
function requireOwn(folder: string): void {
  const own = process.geteuid?.() ?? ROOT;
  const {uid: owner} = withFile(folder, "read", () => statSync(folder));
  if (own !== ROOT && owner !== ROOT && owner !== own)
    throw new PulledError(
      "OTHER_PULL",
      `${folder} belongs to user ${owner}: expected a folder of user ${own}`,
    );
}

/** Removes what no line of the journal names. Throws for files that no pull makes, and keeps them. */
function removeUnfinished(folder: string, asked: AskedPull, parts: readonly Part[]): void {
  const named = new Set([JOURNAL, ...parts.map(({file}) => file)]);
  const ownName = new RegExp(
    `^(${TABLE_NAMES.map(name => TABLES[name].name).join("|")})-[0-9]{6,}\\.${asked.format}(\\.(partial|draft[0-9]+))?$`,
  );
  for (const file of listFiles(folder)) {
    if (named.has(file)) continue;
    if (!ownName.test(file) && file !== `${MANIFEST}${PARTIAL}`)
      throw new PulledError("OTHER_PULL", `${folder} has a file that is not of a pull: ${file}`);
    withFile(join(folder, file), "write", () => rmSync(join(folder, file)));
  }
}

/** Without an unfinished journal, which a kill may leave. */
function listFiles(folder: string): string[] {
  const files = withFile(folder, "read", () => readdirSync(folder));
  return files.filter(file => file !== `${JOURNAL}${PARTIAL}`);
}
