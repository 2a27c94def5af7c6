/** What the proof threads have done since the start, in memory that the main thread and all of them share. */

interface Counts {
  readonly accounts: number;
  readonly slots: number;
  /** Pages that were in a thread's cache when they were read. */
  readonly cachedPages: number;
  /** Pages that LevelDB was asked for. */
  readonly storedPages: number;
}

export class ProofCounts {
  /** 64 bits each: 32 would last for some days. */
  private readonly cells: BigInt64Array;

  /** @param shared - default: memory of its own */
  constructor(readonly shared = new SharedArrayBuffer(4 * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.cells = new BigInt64Array(shared);
  }

  /** Called once per job, not per proof: an addition that all threads see costs as much as reading a page. */
  add({accounts, slots, cachedPages, storedPages}: Counts): void {
    for (const [at, count] of [accounts, slots, cachedPages, storedPages].entries())
      if (count > 0) Atomics.add(this.cells, at, BigInt(count));
  }

  read(): Counts {
    const [accounts = 0, slots = 0, cachedPages = 0, storedPages = 0] = Array.from(this.cells, Number);
    return {accounts, slots, cachedPages, storedPages};
  }
}
