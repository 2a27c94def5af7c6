/**
 * The gate before LevelDB: LevelDB opens only files that were verified. It would drop what it cannot read of a log and keep
 * the rest. Over a damaged table it may end the process, and it misses a record whose key is damaged.
 *
 *   CURRENT, manifest, logs
 *   all tables                       all but the data blocks (1 to 2 %), and the data blocks for a few keys
 *   level 0 and the newest tables    the keys of all data blocks: LevelDB is about to compact them
 */
import {existsSync} from "node:fs";
import {join} from "node:path";
import {StoreError} from "../errors.ts";
import {isFinding} from "./acknowledgedNote.ts";
import {BlockMemory} from "./blockMemory.ts";
import {FileDamage} from "./fileDamage.ts";
import {compareKeys} from "./internalKey.ts";
import {inUse} from "./levelErrors.ts";
import {isInUse} from "./lock.ts";
import {type FileFinding, type Manifest, readManifest, type TableFile} from "./manifest.ts";
import type {KeyRange} from "./recordSource.ts";
import {TableBlocks} from "./tableBlocks.ts";
import type {Extent} from "./tableCheck.ts";
import {TableReader} from "./tableReader.ts";
import {checkTables} from "./tablesCheck.ts";
import {describeFinding, verifyFiles} from "./verifyFiles.ts";

/** Bytes of tables whose data blocks are all read: about 1 s. */
const KEYS_BYTES = 2 ** 30;

/**
 * Returns if LevelDB would lose nothing by opening the store, or if there is no store yet. Changes nothing.
 *
 * @param keys - the data blocks that LevelDB would read for them are verified in all tables
 * @param keysBytes - of the tables whose data blocks are all read
 * @throws StoreError STORE_DAMAGED with file and byte, STORE_IN_USE, STORE_UNREADABLE
 */
export async function requireWholeFiles(
  directory: string,
  keys: KeyRange,
  keysBytes = KEYS_BYTES,
): Promise<void> {
  if (!existsSync(join(directory, "CURRENT"))) return;
  // Files that another process is writing may not fit together.
  if (await isInUse(directory)) throw inUse(directory);
  const wrong = await findDamage(directory, keys, keysBytes);
  if (wrong === undefined) return;
  // Another process may have opened the store since.
  if (await isInUse(directory)) throw inUse(directory);
  throw wrong;
}

async function findDamage(
  directory: string,
  keys: KeyRange,
  keysBytes: number,
): Promise<StoreError | undefined> {
  try {
    const finding = (await verifyFiles(directory))[0] ?? (await findTableDamage(directory, keys, keysBytes));
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
async function findTableDamage(
  directory: string,
  keys: KeyRange,
  keysBytes: number,
): Promise<FileFinding | undefined> {
  const manifest = await readManifest(directory);
  if (isFinding(manifest)) return manifest;
  const tables = [...manifest.tables.values()];
  return (
    (await findIn(directory, tables, "frame")) ??
    findNear(directory, tables, keys) ??
    (await findIn(directory, tablesToCompact(manifest, keysBytes), "keys"))
  );
}

/** Reads the blocks that hold `keys`, or would hold them. A damaged key there hides a record, or its newest value. */
function findNear(
  directory: string,
  tables: readonly TableFile[],
  {gte, lte}: KeyRange,
): FileFinding | undefined {
  for (const live of tables) {
    if (compareKeys(live.largest, gte) < 0 || compareKeys(live.smallest, lte) > 0) continue;
    const table = new TableReader(TableBlocks.open(directory, live.number), live, new BlockMemory(0));
    try {
      for (const {key} of table.versions(gte)) if (Buffer.compare(key, lte) > 0) break;
    } catch (error) {
      if (!(error instanceof FileDamage)) throw error;
      return error.finding;
    } finally {
      table.close();
    }
  }
  return undefined;
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
function tablesToCompact({tables}: Manifest, maxBytes: number): TableFile[] {
  const byAge = [...tables.values()].sort(
    (a, b) => Number(b.level === 0) - Number(a.level === 0) || b.number - a.number,
  );
  let bytes = 0;
  return byAge.filter(({size}) => {
    bytes += size;
    return bytes <= maxBytes;
  });
}
