/** A cache of finalized blocks for one thread. Others may be rolled back, so they are read each time. */
import type {BlockRecord} from "./blockRecord.ts";
import type {StateReader} from "./stateReader.ts";

export class FinalizedBlocks<T> {
  private readonly kept = new Map<number, T>();
  private finalized = -1;

  /** @param read - derives the cached value from a block's record. @param most - blocks in the cache */
  constructor(
    private readonly store: StateReader,
    private readonly read: (record: BlockRecord) => T,
    private readonly most: number,
  ) {}

  /** As of the last block that was read. */
  isFinalized(block: number): boolean {
    return block <= this.finalized;
  }

  /** Also of a block that was pruned meanwhile, whose pages are gone. @throws StoreError as StateReader.blockOrThrow */
  at(block: number): T {
    const known = this.kept.get(block);
    if (known !== undefined) return known;
    // Read before the record: between the two reads another block could get this number and be finalized.
    if (block > this.finalized) this.finalized = this.store.readFinalized() ?? -1;
    const value = this.read(this.store.blockOrThrow(block));
    if (block > this.finalized) return value;
    if (this.kept.size >= this.most) this.kept.clear();
    this.kept.set(block, value);
    return value;
  }
}
