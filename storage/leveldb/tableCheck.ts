/**
 * Verifies the checksums in tables, without LevelDB.
 *
 *   frame   footer, index, metaindex and filter: 1 to 2 % of the file      each time a store is opened
 *   keys    also the data blocks: where a checksum is wrong, the keys      the same, for the newest tables
 *           must still decode and be in order
 *   whole   the frame and all data blocks                                  `proofd check`, `serve --check-store`
 *
 * LevelDB ends the process over keys that do not decode or are out of order. It notices no other damage; records have
 * checksums of their own.
 *
 * The blocks must fill the file without gaps. Its first and last key must be those in the manifest.
 */
import {count} from "../count.ts";
import {BlockCursor, type BlockHandle} from "./blockCursor.ts";
import {type FileFinding, findingOf, missingFile} from "./fileDamage.ts";
import {tableName} from "./fileNames.ts";
import {compareInternalKeys, Kind, kindOf} from "./internalKey.ts";
import {readManifest, type TableFile} from "./manifest.ts";
import {checkBlock, endOf, TableBlocks} from "./tableBlocks.ts";

type Extent = "frame" | "keys" | "whole";

/** About a MB that was read, and the damage in it. */
interface TableStep {
  readonly bytes: number;
  readonly damage: readonly FileFinding[];
}

/** Data blocks are read together, up to this many bytes (and at least one block). */
const READ_BYTES = 1 << 20;

/** Verifies tables in turn. One that a compaction has removed is skipped. The caller may pause between steps. */
export async function* checkTables(
  directory: string,
  tables: Iterable<TableFile>,
  extent: Extent,
): AsyncGenerator<TableStep & {readonly file: string}> {
  for (const live of tables) {
    const file = tableName(live.number);
    let table: TableBlocks;
    try {
      table = TableBlocks.open(directory, live.number);
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
      const damage = isMissing ? await missingTable(directory, live) : [findingOf(error, file)];
      yield {file, bytes: live.size, damage};
      continue;
    }
    try {
      for (const step of checkTable(table, live, extent)) yield {file, ...step};
    } finally {
      table.close();
    }
  }
}

/** A finding, unless the manifest no longer names it. */
async function missingTable(directory: string, {number}: TableFile): Promise<FileFinding[]> {
  try {
    const {name, tables} = await readManifest(directory);
    return tables.has(number) ? [missingFile(tableName(number), name)] : [];
  } catch (error) {
    return [findingOf(error)];
  }
}

function* checkTable(table: TableBlocks, live: TableFile, extent: Extent): Generator<TableStep> {
  const damage: FileFinding[] = [];
  const frame = collect(damage, () => checkFrame(table, live, damage));
  if (frame === undefined || extent === "frame") {
    yield {bytes: table.size, damage};
    return;
  }
  const dataBlocks = collect(damage, () => findDataBlocks(table, live, frame));
  yield {
    bytes: table.size - (dataBlocks === undefined ? 0 : endOf(dataBlocks.at(-1) as BlockHandle)),
    damage,
  };
  if (dataBlocks === undefined) return;
  let isWhole = damage.length === 0;
  for (let next = 0; next < dataBlocks.length; ) {
    const first = next++;
    const start = (dataBlocks[first] as DataBlock).offset;
    while (next < dataBlocks.length && endOf(dataBlocks[next] as DataBlock) - start <= READ_BYTES) next++;
    const step = checkDataBlocks(table, dataBlocks.slice(first, next), extent);
    isWhole &&= step.damage.length === 0;
    yield step;
  }
  if (!isWhole) return;
  const wrong: FileFinding[] = [];
  collect(wrong, () => checkEdges(table, live, dataBlocks));
  yield {bytes: 0, damage: wrong};
}

/** A data block, and between which internal keys those of the block are. */
interface DataBlock extends BlockHandle {
  readonly from: Buffer;
  readonly until: Buffer;
}

interface Frame {
  readonly index: BlockHandle;
  readonly metaindex: BlockHandle;
  /** undefined: the metaindex is damaged. */
  readonly filters: readonly BlockHandle[] | undefined;
}

function checkFrame(table: TableBlocks, live: TableFile, damage: FileFinding[]): Frame {
  if (table.size !== live.size)
    throw table.damage(
      Math.min(table.size, live.size),
      `expected ${count(live.size, "byte")}, got ${table.size}`,
    );
  const {metaindex, index} = table.readFooter();
  const filters = collect(damage, () =>
    listHandles(table, metaindex, "metaindex block").map(({handle}) => handle),
  );
  for (const filter of filters ?? []) collect(damage, () => table.readBlock(filter, "filter block"));
  table.readBlock(index, "index block");
  return {index, metaindex, filters};
}

/** Finds the data blocks, and checks that all blocks together fill the file. @throws FileDamage */
function findDataBlocks(
  table: TableBlocks,
  {smallest, largest}: TableFile,
  {index, metaindex, filters}: Frame,
): readonly DataBlock[] {
  let from = smallest;
  const dataBlocks = listHandles(table, index, "index block").map(({key, handle}) => {
    const until = compareInternalKeys(key, largest) < 0 ? key : largest;
    const block = {...handle, from, until};
    from = until;
    return block;
  });
  if (dataBlocks.length === 0) throw table.damage(index.offset, "index block: it is empty");
  if (filters === undefined) return dataBlocks;
  let end = 0;
  for (const block of [...dataBlocks, ...filters, metaindex]) {
    if (block.offset !== end)
      throw table.damage(end, `a block begins at byte ${block.offset}, the one before it ends here`);
    end = endOf(block);
  }
  return dataBlocks;
}

function listHandles(
  table: TableBlocks,
  block: BlockHandle,
  kind: string,
): {readonly key: Buffer; readonly handle: BlockHandle}[] {
  const handles: {key: Buffer; handle: BlockHandle}[] = [];
  const cursor = table.openBlock(block, kind);
  while (cursor.next()) handles.push({key: cursor.key, handle: cursor.handle()});
  return handles;
}

function checkDataBlocks(table: TableBlocks, blocks: readonly DataBlock[], extent: Extent): TableStep {
  const start = (blocks[0] as DataBlock).offset;
  const bytes = endOf(blocks.at(-1) as BlockHandle) - start;
  const damage: FileFinding[] = [];
  const read = collect(damage, () => table.read(start, bytes));
  if (read === undefined) return {bytes, damage};
  for (const block of blocks) {
    const wrong = checkBlock(read.subarray(block.offset - start, endOf(block) - start));
    if (wrong === undefined) continue;
    const at = block.offset - start;
    if (extent === "whole" || !hasSoundKeys(read.subarray(at, at + block.size), block))
      damage.push({file: table.name, offset: block.offset, what: `data block: ${wrong}`});
  }
  return {bytes, damage};
}

/** Do the keys of a damaged block decode, and are they in order and where the index says? */
function hasSoundKeys(bytes: Buffer, {from, until}: DataBlock): boolean {
  try {
    const cursor = new BlockCursor(bytes, what => new RangeError(what));
    let last: Buffer | undefined;
    while (cursor.next()) {
      const {key} = cursor;
      if (kindOf(key) > Kind.VALUE || compareInternalKeys(key, until) > 0) return false;
      // The first key of a table is its smallest one. That of another block is above the bound of the block before.
      if (compareInternalKeys(key, last ?? from) < (last === undefined ? 0 : 1)) return false;
      last = key;
    }
    return last !== undefined;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** An undamaged table may still be a copy of another one; its keys tell. @throws FileDamage */
function checkEdges(table: TableBlocks, live: TableFile, dataBlocks: readonly BlockHandle[]): void {
  const first = table.openBlock(dataBlocks[0] as BlockHandle, "data block");
  first.next();
  const last = table.openBlock(dataBlocks.at(-1) as BlockHandle, "data block");
  while (last.next());
  if (!first.key.equals(live.smallest) || !last.key.equals(live.largest))
    throw table.damage(0, "its first and last key are not those that the manifest says");
}

/** Runs `read`. If it throws damage, that is added to `damage`. */
function collect<T>(damage: FileFinding[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    damage.push(findingOf(error));
    return undefined;
  }
}
