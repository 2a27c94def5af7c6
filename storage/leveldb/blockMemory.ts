/**
 * Keeps the blocks of tables that were read last, up to a number of bytes.
 */

export class BlockMemory {
  private readonly blocks = new Map<string, Buffer>();
  private readonly maxBytes: number;
  private bytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

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
