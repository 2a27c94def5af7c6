/**
 * Reads the finalizations that are recorded, in their order. End blocks rise, so a block's finalization is found by bisection.
 *
 * Every read is a point read: 1 for the count, and log2(count) more to find a block, 14 for ten thousand finalizations.
 */
import {StoreError} from "../errors.ts";
import {finalizationKey, META} from "../record/layout.ts";
import {decodeFinalization, type Finalization} from "./finalization.ts";
import {decodeLayer1Mark, type Layer1Mark} from "./layer1Mark.ts";

/** @returns a record's body, or undefined if there is none */
type ReadRecord = (key: Buffer) => Buffer | undefined;

export class Finalizations {
  private readonly readRecord: ReadRecord;

  constructor(readRecord: ReadRecord) {
    this.readRecord = readRecord;
  }

  /** How far layer 1 has been read. undefined: never. @throws StoreError RECORD_DAMAGED */
  readMark(): Layer1Mark | undefined {
    return this.readHead()?.mark;
  }

  count(): number {
    return this.readHead()?.count ?? 0;
  }

  /** @param index - below `count()`. @throws StoreError RECORD_MISSING, RECORD_DAMAGED */
  read(index: number): Finalization {
    const body = this.readRecord(finalizationKey(index));
    if (body === undefined)
      throw new StoreError(
        "RECORD_MISSING",
        `finalization ${index} is not in the store, although it is counted`,
      );
    return decodeFinalization(index, body);
  }

  /** The newest one. */
  last(): Finalization | undefined {
    const count = this.count();
    return count === 0 ? undefined : this.read(count - 1);
  }

  /** The finalization that covers `block`: the first that ends there or later. */
  covering(block: number): Finalization | undefined {
    const [first] = this.list(block, 1);
    return first;
  }

  /** The finalizations that end at `block` or later, in order, at most `limit`. */
  list(block: number, limit: number): Finalization[] {
    const count = this.count();
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.read(middle).endBlock < block) low = middle + 1;
      else high = middle;
    }
    const found: Finalization[] = [];
    for (let index = low; index < count && found.length < limit; index++) found.push(this.read(index));
    return found;
  }

  private readHead(): ReturnType<typeof decodeLayer1Mark> | undefined {
    const body = this.readRecord(META.layer1);
    return body === undefined ? undefined : decodeLayer1Mark(body);
  }
}
