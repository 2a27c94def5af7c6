/**
 * Tells the main thread that an import is about to remove the newest blocks. All threads see their removal at once,
 * before the import's next event arrives.
 *
 *   cells   count of rollbacks u32 | unused u32 | newest block that is kept u64      only the import writes them
 */
export class RollbackSignal {
  private readonly counts: Int32Array;
  private readonly blocks: BigInt64Array;

  constructor(readonly cells: SharedArrayBuffer = new SharedArrayBuffer(16)) {
    this.counts = new Int32Array(cells, 0, 1);
    this.blocks = new BigInt64Array(cells, 8, 1);
  }

  get count(): number {
    return Atomics.load(this.counts, 0);
  }

  /** The newest block that the last rollback keeps. */
  get block(): number {
    return Number(Atomics.load(this.blocks, 0));
  }

  /** Call it before blocks above `block` are removed. */
  begin(block: number): void {
    Atomics.store(this.blocks, 0, BigInt(block));
    Atomics.add(this.counts, 0, 1);
  }
}
