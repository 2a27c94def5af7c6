/** Reads the recorded finalizations. Their end blocks ascend, and are kept once read: some ten thousand a year. */
import {countBelow} from "../bisect.ts";
import {StoreError} from "../errors.ts";
import {finalizationKey, META} from "../record/layout.ts";
import {decodeFinalization, type Finalization} from "./finalization.ts";
import {decodeLayer1Record, type Layer1Record} from "./layer1Mark.ts";

/** As in StateReader. */
interface RecordReader {
  readRecord(key: Buffer): Buffer | undefined;
  readMark(key: Buffer): Buffer | undefined;
}

export class Finalizations {
  private readonly ends: number[] = [];

  constructor(private readonly reader: RecordReader) {}

  /** How far layer 1 has been read. undefined: never. @throws StoreError RECORD_DAMAGED */
  readLayer1(): Layer1Record | undefined {
    const body = this.reader.readMark(META.layer1);
    return body === undefined ? undefined : decodeLayer1Record(body);
  }

  count(): number {
    return this.readLayer1()?.count ?? 0;
  }

  /** @param index - below `count()`. @throws StoreError RECORD_MISSING, RECORD_DAMAGED */
  read(index: number): Finalization {
    const body = this.reader.readRecord(finalizationKey(index));
    if (body === undefined)
      throw new StoreError(
        "RECORD_MISSING",
        `finalization ${index} is not in the store, although the layer1 record counts it`,
      );
    return decodeFinalization(index, body);
  }

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
  *list(block: number, limit: number): Generator<Finalization, void, void> {
    const {ends} = this;
    for (const known = this.count(); ends.length < known; ) ends.push(this.read(ends.length).endBlock);
    const first = countBelow(ends.length, at => (ends[at] as number) < block);
    const count = Math.min(limit, ends.length - first);
    for (let at = first; at < first + count; at++) yield this.read(at);
  }

  endingAt(block: number): Finalization | undefined {
    const covering = this.covering(block);
    return covering?.endBlock === block ? covering : undefined;
  }
}
