/**
 * The body of a finality message: what the publisher has recorded of layer 1 (docs/feed.md). Empty if nothing.
 *
 *   first u48 | layer1 record: length u8, bytes (storage/block/layer1Mark.ts) | finalizations, each: length u8, bytes
 *
 * `first` is the number of the first finalization; the count in the record includes the last one.
 */
import {decodeFinalization, encodeFinalization, type Finalization} from "../../storage/block/finalization.ts";
import {decodeLayer1Record, encodeLayer1Record, type Layer1Record} from "../../storage/block/layer1Mark.ts";
import {count} from "../../storage/count.ts";
import {StoreError} from "../../storage/errors.ts";
import {BodyReader, encodeNumber} from "../../storage/record/recordBody.ts";
import {FeedError} from "./feedError.ts";

const MAX_FINALIZATIONS = 1000;
/** Of one finalization with its length; and of everything before it. */
const MOST_BYTES = 256;
const START_BYTES = 512;

export interface FedFinality {
  /** Counted from 0, in the order of layer 1. */
  readonly first: number;
  readonly record: Layer1Record;
  readonly finalizations: readonly Finalization[];
}

/** How many finalizations fit a body. */
export function mostFinalizations(bodyBytes: number): number {
  return Math.min(MAX_FINALIZATIONS, Math.floor((bodyBytes - START_BYTES) / MOST_BYTES));
}

export function encodeLayer1(finality: FedFinality | undefined): Buffer {
  if (finality === undefined) return Buffer.alloc(0);
  const {first, record, finalizations} = finality;
  const fields = [encodeLayer1Record(record), ...finalizations.map(encodeFinalization)];
  return Buffer.concat([
    encodeNumber(first),
    ...fields.flatMap(field => [encodeNumber(field.length, 1), field]),
  ]);
}

/** @throws FeedError */
export function decodeLayer1(bytes: Buffer): FedFinality | undefined {
  if (bytes.length === 0) return undefined;
  const reader = new BodyReader("the finality message", bytes);
  try {
    const first = reader.number();
    const record = decodeLayer1Record(reader.bytes(reader.number(1)));
    const finalizations: Finalization[] = [];
    while (reader.left > 0)
      finalizations.push(decodeFinalization(first + finalizations.length, reader.bytes(reader.number(1))));
    if (first + finalizations.length !== record.count)
      throw reader.damage(
        `${first} and ${count(finalizations.length, "finalization")} are not the ${record.count} that it counts`,
      );
    if (finalizations.length > MAX_FINALIZATIONS)
      throw reader.damage(`expected at most ${MAX_FINALIZATIONS} finalizations, got ${finalizations.length}`);
    return {first, record, finalizations};
  } catch (error) {
    if (error instanceof StoreError) throw new FeedError(error.message);
    throw error;
  }
}
