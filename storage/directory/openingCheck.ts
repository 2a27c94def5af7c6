/**
 * Verifies a store's files before LevelDB opens them. LevelDB itself drops the parts of a log that it cannot read and
 * keeps the rest. A damaged table may make it end the process, and it misses a record whose key is damaged.
 *
 *   CURRENT, manifest, logs
 *   all tables                       all but the data blocks (1 to 2 %), and the data blocks for a few keys
 *   level 0 and the newest tables    the keys of all data blocks: LevelDB is about to compact them
 */
import {existsSync} from "node:fs";
import {join} from "node:path";
import {StoreError} from "../errors.ts";
import {FileDamage} from "../leveldb/fileDamage.ts";
import {compareKeys} from "../leveldb/internalKey.ts";
import {inUse} from "../leveldb/levelErrors.ts";
import {readManifest, type TableFile} from "../leveldb/manifest.ts";
import type {KeyRange} from "../leveldb/recordSource.ts";
import {TableBlocks} from "../leveldb/tableBlocks.ts";
import {checkTables} from "../leveldb/tableCheck.ts";
import {BlockMemory, TableReader} from "../leveldb/tableReader.ts";
import {isInUse} from "./lockHolder.ts";
import {verifyFiles} from "./verifyFiles.ts";

/** Bytes of tables whose data blocks are all read: about 1 s. */
const KEYS_BYTES = 2 ** 30;

/**
 * Returns if LevelDB would lose nothing by opening the store, or if there is none. Changes nothing.
 *
 * @param keys - the data blocks that LevelDB would read for them are verified in all tables
 * @param keysBytes - of the tables whose data blocks are all read
 * @throws StoreError STORE_DAMAGED with file and byte, STORE_IN_USE, STORE_UNREADABLE
 */
export async function requireUndamagedFiles(
  directory: string,
  keys: KeyRange,
  keysBytes = KEYS_BYTES,
): Promise<void> {
  if (!existsSync(join(directory, "CURRENT"))) return;
  // Files that another process is writing may not fit together.
  if (await isInUse(directory)) throw inUse(directory);
  const wrong = await findDamage(directory, directory, keys, keysBytes);
  if (wrong === undefined) return;
  // Another process may have opened the store since.
  if (await isInUse(directory)) throw inUse(directory);
  throw wrong;
}

/** For a directory that no process writes to. @param store - what the returned error names */
export async function findDamage(
  directory: string,
  store: string,
  keys: KeyRange,
  keysBytes = KEYS_BYTES,
): Promise<StoreError | undefined> {
  try {
    const manifest = await readManifest(directory);
    for (const finding of await verifyFiles(directory, manifest)) throw new FileDamage(finding);
    const tables = [...manifest.tables.values()];
    await requireTables(directory, tables, "frame");
    requireNear(directory, tables, keys);
    await requireTables(directory, tablesToCompact(tables, keysBytes), "keys");
    return undefined;
  } catch (error) {
    if (error instanceof FileDamage) return damageOf(store, error);
    if (!(error instanceof Error && "syscall" in error)) throw error;
    return new StoreError("STORE_UNREADABLE", `${store} cannot be read: ${error.message}`, {
      cause: error,
    });
  }
}

export function damageOf(store: string, {code, message, finding}: FileDamage): StoreError {
  return new StoreError(code, `${store} ${finding.isRefused ? "cannot be read" : "is damaged"}: ${message}`);
}

/** Reads the blocks of `keys`: a damaged key there hides a record, or its newest value. @throws FileDamage */
function requireNear(directory: string, tables: readonly TableFile[], {gte, lte}: KeyRange): void {
  for (const live of tables) {
    if (compareKeys(live.largest, gte) < 0 || compareKeys(live.smallest, lte) > 0) continue;
    const table = new TableReader(TableBlocks.open(directory, live.number), live, new BlockMemory(0));
    try {
      for (const {key} of table.versions(gte)) if (Buffer.compare(key, lte) > 0) break;
    } finally {
      table.close();
    }
  }
}

async function requireTables(
  directory: string,
  tables: readonly TableFile[],
  extent: "frame" | "keys",
): Promise<void> {
  for await (const {damage} of checkTables(directory, tables, extent))
    for (const finding of damage) throw new FileDamage(finding);
}

/** The tables of level 0, then the newest other ones, up to a number of bytes. */
function tablesToCompact(tables: readonly TableFile[], maxBytes: number): TableFile[] {
  const byAge = [...tables].sort(
    (a, b) => Number(b.level === 0) - Number(a.level === 0) || b.number - a.number,
  );
  let bytes = 0;
  return byAge.filter(({size}) => {
    bytes += size;
    return bytes <= maxBytes;
  });
}
