/**
 * Reads the records of one table. Every block is checked when it is read.
 */
import {BlockCursor} from "./blockCursor.ts";
import type {BlockMemory} from "./blockMemory.ts";
import {ByteReader} from "./byteReader.ts";
import {compareKeys, Kind, kindOf, userKeyOf} from "./internalKey.ts";
import type {TableFile} from "./manifest.ts";
import {type BlockHandle, readHandle, type TableBlocks} from "./tableBlocks.ts";

/** One version of a key. `value` is undefined if this version deletes the key. */
export interface Version {
  readonly key: Buffer;
  readonly value: Buffer | undefined;
}

export class TableReader {
  readonly live: TableFile;
  private readonly blocks: TableBlocks;
  private readonly memory: BlockMemory;

  /** @param blocks - belongs to this reader from now on */
  constructor(blocks: TableBlocks, live: TableFile, memory: BlockMemory) {
    this.blocks = blocks;
    this.live = live;
    this.memory = memory;
  }

  close(): void {
    this.blocks.close();
  }

  /** The newest version of a key in this table, or undefined. @throws FileDamage */
  get(userKey: Buffer): Version | undefined {
    const {smallest, largest} = this.live;
    if (compareKeys(smallest, userKey) > 0 || compareKeys(largest, userKey) < 0) return undefined;
    const index = new BlockCursor(this.index());
    if (!index.seek(userKey)) return undefined;
    const entries = new BlockCursor(this.dataBlock(handleAt(index)));
    if (!entries.seek(userKey) || compareKeys(entries.key, userKey) !== 0) return undefined;
    return versionAt(entries);
  }

  /** The last key below `bound`, deleted or not. @throws FileDamage */
  lastBelow(bound: Buffer): Buffer | undefined {
    // It is in the block where `bound` belongs, or else in the block before.
    const handles: BlockHandle[] = [];
    const index = new BlockCursor(this.index());
    while (index.next()) {
      handles.push(handleAt(index));
      if (compareKeys(index.key, bound) >= 0) break;
    }
    let last: Buffer | undefined;
    for (const handle of handles.slice(-2)) {
      const entries = new BlockCursor(this.dataBlock(handle));
      while (entries.next() && compareKeys(entries.key, bound) < 0) last = userKeyOf(entries.key);
    }
    return last;
  }

  /** Every version of every key, in the order of tables. @throws FileDamage */
  *versions(): Generator<Version> {
    const index = new BlockCursor(this.index());
    while (index.next()) {
      const entries = new BlockCursor(this.blocks.readBlock(handleAt(index), "data block"));
      while (entries.next()) yield versionAt(entries);
    }
  }

  private index(): Buffer {
    return this.memory.get(this.blocks.name, () =>
      this.blocks.readBlock(this.blocks.readFooter().index, "index block"),
    );
  }

  private dataBlock(handle: BlockHandle): Buffer {
    return this.memory.get(`${this.blocks.name} ${handle.offset}`, () =>
      this.blocks.readBlock(handle, "data block"),
    );
  }
}

function handleAt(index: BlockCursor): BlockHandle {
  return readHandle(new ByteReader(index.value));
}

function versionAt({key, value}: BlockCursor): Version {
  return {key: userKeyOf(key), value: kindOf(key) === Kind.VALUE ? value : undefined};
}
