/** Reads the records of one table. Every block is checked when it is read. */
import type {BlockCursor, BlockHandle} from "./blockCursor.ts";
import {compareKeys, Kind, kindOf, userKeyOf} from "./internalKey.ts";
import type {TableFile} from "./manifest.ts";
import type {TableBlocks} from "./tableBlocks.ts";

/** `value` is undefined if this version deletes the key. */
export interface Version {
  readonly key: Buffer;
  readonly value: Buffer | undefined;
}

export class TableReader {
  private indexHandle: BlockHandle | undefined;

  constructor(
    private readonly blocks: TableBlocks,
    readonly live: TableFile,
    private readonly memory: BlockMemory,
  ) {}

  close(): void {
    this.blocks.close();
  }

  /** The last key below `bound`, deleted or not. @throws FileDamage */
  lastBelow(bound: Buffer): Buffer | undefined {
    // It is in the block where `bound` belongs, or else in the block before.
    const handles: BlockHandle[] = [];
    const index = this.index();
    while (index.next()) {
      handles.push(index.handle());
      if (compareKeys(index.key, bound) >= 0) break;
    }
    let last: Buffer | undefined;
    for (const handle of handles.slice(-2)) {
      const entries = this.dataBlock(handle);
      while (entries.next() && compareKeys(entries.key, bound) < 0) last = userKeyOf(entries.key);
    }
    return last;
  }

  /** Every version of every key from `from` on, in the order of tables. @throws FileDamage */
  *versions(from: Buffer): Generator<Version> {
    const index = this.index();
    if (!index.seek(from)) return;
    let entries = this.dataBlock(index.handle());
    // Only the first block can begin with keys below `from`.
    let isThere = entries.seek(from);
    for (;;) {
      for (; isThere; isThere = entries.next()) {
        const {key, value} = entries;
        yield {key: userKeyOf(key), value: kindOf(key) === Kind.VALUE ? value : undefined};
      }
      if (!index.next()) return;
      entries = this.dataBlock(index.handle());
      isThere = entries.next();
    }
  }

  private index(): BlockCursor {
    this.indexHandle ??= this.blocks.readFooter().index;
    return this.open(this.indexHandle, "index block");
  }

  private dataBlock(handle: BlockHandle): BlockCursor {
    return this.open(handle, "data block");
  }

  private open(handle: BlockHandle, kind: string): BlockCursor {
    const name = `${this.blocks.name} ${handle.offset}`;
    const bytes = this.memory.get(name, () => this.blocks.readBlock(handle, kind));
    return this.blocks.openBlock(handle, kind, bytes);
  }
}

/** Keeps the blocks of tables that were read last, up to a number of bytes. */
export class BlockMemory {
  private readonly blocks = new Map<string, Buffer>();
  private bytes = 0;

  constructor(private readonly maxBytes: number) {}

  /** @param name - of a block that never changes. @param read - called if the block is not kept */
  get(name: string, read: () => Buffer): Buffer {
    const kept = this.blocks.get(name);
    const block = kept ?? read();
    if (kept === undefined) this.bytes += block.length;
    else this.blocks.delete(name);
    this.blocks.set(name, block);
    for (const [oldest, {length}] of this.blocks) {
      if (this.bytes <= this.maxBytes) break;
      this.blocks.delete(oldest);
      this.bytes -= length;
    }
    return block;
  }
}
