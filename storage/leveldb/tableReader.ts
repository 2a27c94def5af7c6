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
  /** Where the block begins that is read. 0 for the index. */
  private readingAt = 0;

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
    const {value, done} = this.versions(userKey).next();
    return done === true || !value.key.equals(userKey) ? undefined : value;
  }

  /** The last key below `bound`, deleted or not. @throws FileDamage */
  lastBelow(bound: Buffer): Buffer | undefined {
    return this.reading(() => {
      // It is in the block where `bound` belongs, or else in the block before.
      const handles: BlockHandle[] = [];
      const index = this.index();
      while (index.next()) {
        handles.push(handleAt(index));
        if (compareKeys(index.key, bound) >= 0) break;
      }
      let last: Buffer | undefined;
      for (const handle of handles.slice(-2)) {
        const entries = this.dataBlock(handle);
        while (entries.next() && compareKeys(entries.key, bound) < 0) last = userKeyOf(entries.key);
      }
      return last;
    });
  }

  /** Every version of every key from `from` on, in the order of tables. @throws FileDamage */
  *versions(from: Buffer): Generator<Version, undefined> {
    const index = this.index();
    let entries: BlockCursor | undefined;
    const next = (): boolean => {
      if (entries === undefined) {
        // Only the first block can begin with keys below `from`.
        if (!index.seek(from)) return false;
        entries = this.dataBlock(handleAt(index));
        if (entries.seek(from)) return true;
      }
      while (!entries.next()) {
        if (!index.next()) return false;
        entries = this.dataBlock(handleAt(index));
      }
      return true;
    };
    while (this.reading(next)) yield this.reading(() => versionAt(entries as BlockCursor));
    return undefined;
  }

  private index(): BlockCursor {
    this.readingAt = 0;
    const read = (): Buffer => this.blocks.readBlock(this.blocks.readFooter().index, "index block");
    return this.reading(() => new BlockCursor(this.memory.get(this.blocks.name, read)));
  }

  private dataBlock(handle: BlockHandle): BlockCursor {
    this.readingAt = handle.offset;
    const read = (): Buffer => this.blocks.readBlock(handle, "data block");
    return new BlockCursor(this.memory.get(`${this.blocks.name} ${handle.offset}`, read));
  }

  /** A block may match its checksum and still be no block: then its writer was at fault, or the file is forged. */
  private reading<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw this.blocks.damage(this.readingAt, error.message);
    }
  }
}

function handleAt(index: BlockCursor): BlockHandle {
  return readHandle(new ByteReader(index.value));
}

function versionAt({key, value}: BlockCursor): Version {
  return {key: userKeyOf(key), value: kindOf(key) === Kind.VALUE ? value : undefined};
}
