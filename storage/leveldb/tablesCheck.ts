/**
 * Verifies the tables of a store one after the other. LevelDB may be open meanwhile: a table that a compaction has removed is
 * skipped.
 */
import {isFinding} from "./acknowledgedNote.ts";
import {tableName} from "./fileNames.ts";
import {type FileFinding, readManifest, type TableFile} from "./manifest.ts";
import {TableBlocks} from "./tableBlocks.ts";
import {checkTable, type Extent} from "./tableCheck.ts";

interface TablesCheck {
  readonly extent: Extent;
  report(finding: FileFinding): void;
  /** Called after about each MB, and for skipped tables. @returns false to end the check here */
  pause(file: string, bytes: number): Promise<boolean>;
}

/** @param tables - from the directory's manifest. @returns false if the check was ended early */
export async function checkTables(
  directory: string,
  tables: Iterable<TableFile>,
  check: TablesCheck,
): Promise<boolean> {
  for (const live of tables) {
    const file = tableName(live.number);
    const table = await openTable(directory, live, check);
    if (table === undefined) {
      if (!(await check.pause(file, live.size))) return false;
      continue;
    }
    try {
      for (const {bytes, damage} of checkTable(table, live, check.extent)) {
        for (const finding of damage) check.report(finding);
        if (!(await check.pause(file, bytes))) return false;
      }
    } finally {
      table.close();
    }
  }
  return true;
}

/** @returns undefined for a missing table. It is reported, unless the manifest no longer names it */
async function openTable(
  directory: string,
  {number}: TableFile,
  check: TablesCheck,
): Promise<TableBlocks | undefined> {
  try {
    return TableBlocks.open(directory, number);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const manifest = await readManifest(directory);
  if (isFinding(manifest)) check.report(manifest);
  else if (manifest.tables.has(number))
    check.report({
      file: tableName(number),
      offset: undefined,
      what: `it is not there, although ${manifest.name} names it`,
    });
  return undefined;
}
