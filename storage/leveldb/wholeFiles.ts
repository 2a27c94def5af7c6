/**
 * The gate before LevelDB: LevelDB opens only files that were verified. It would drop what it cannot read of a log and keep
 * the rest. Over a damaged table it may end the process, and again after every restart.
 *
 *   always                                 CURRENT, manifest, logs; of each table all but the data blocks (1 to 2 %)
 *   if the store was not closed            also level 0 and the newest tables, whole: LevelDB is about to compact them
 */
import {existsSync} from "node:fs";
import {join} from "node:path";
import {StoreError} from "../errors.ts";
import {isFinding} from "./acknowledgedNote.ts";
import {inUse} from "./levelErrors.ts";
import {isInUse} from "./lock.ts";
import {type FileFinding, type Manifest, readManifest, type TableFile} from "./manifest.ts";
import {isMarkedOpen} from "./openMark.ts";
import type {Extent} from "./tableCheck.ts";
import {checkTables} from "./tablesCheck.ts";
import {describeFinding, verifyFiles} from "./verifyFiles.ts";

/** Bytes of tables that are verified whole if the store was not closed: 2 to 3 s. */
const NOT_CLOSED_BYTES = 2 * 2 ** 30;

/**
 * Returns if LevelDB would lose nothing by opening the store, or if there is no store yet. Changes nothing.
 *
 * @throws StoreError STORE_DAMAGED with file and byte, STORE_IN_USE, STORE_UNREADABLE
 */
export async function requireWholeFiles(directory: string): Promise<void> {
  if (!existsSync(join(directory, "CURRENT"))) return;
  // If another process has the store open, its tables are not looked at.
  if (isMarkedOpen(directory) && (await isInUse(directory))) throw inUse(directory);
  const wrong = await findDamage(directory);
  if (wrong === undefined) return;
  // Files that another process is writing may not fit together.
  if (await isInUse(directory)) throw inUse(directory);
  // The other process may have closed the store since the first look.
  const stillWrong = await findDamage(directory);
  if (stillWrong !== undefined) throw stillWrong;
}

async function findDamage(directory: string): Promise<StoreError | undefined> {
  try {
    const finding = (await verifyFiles(directory))[0] ?? (await findTableDamage(directory));
    if (finding === undefined) return undefined;
    return new StoreError("STORE_DAMAGED", `${directory} is damaged: ${describeFinding(finding)}`);
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
    return new StoreError("STORE_UNREADABLE", `${directory} cannot be read: ${error.message}`, {
      cause: error,
    });
  }
}

/** The manifest must be undamaged. @returns the first finding */
async function findTableDamage(directory: string): Promise<FileFinding | undefined> {
  const manifest = await readManifest(directory);
  if (isFinding(manifest)) return manifest;
  const frames = [...manifest.tables.values()];
  return (
    (await findIn(directory, frames, "frame")) ??
    (isMarkedOpen(directory) ? await findIn(directory, tablesToCompact(manifest), "whole") : undefined)
  );
}

async function findIn(
  directory: string,
  tables: readonly TableFile[],
  extent: Extent,
): Promise<FileFinding | undefined> {
  let first: FileFinding | undefined;
  const report = (finding: FileFinding): void => {
    first ??= finding;
  };
  await checkTables(directory, tables, {extent, report, pause: async () => first === undefined});
  return first;
}

/** The tables of level 0, then the newest other ones, up to a number of bytes. */
function tablesToCompact({tables}: Manifest): TableFile[] {
  const byAge = [...tables.values()].sort(
    (a, b) => Number(b.level === 0) - Number(a.level === 0) || b.number - a.number,
  );
  let bytes = 0;
  return byAge.filter(({size}) => {
    bytes += size;
    return bytes <= NOT_CLOSED_BYTES;
  });
}
