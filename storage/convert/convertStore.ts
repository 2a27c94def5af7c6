/**
 * Converts a store of an older format in place, one format after the other:
 *
 *   format 4 -- addKeyMark --> 5
 *
 * A step may write batches of its own, as long as releases of the old format can still read the store. Its last records are
 * written together with the new version, in one synced batch. So after a kill at any moment the store has the old format or the new
 * one, and a step that was killed begins again and finds what it had written.
 *
 * A new format adds a line to STEPS, raises FORMAT_VERSION (block/format.ts), and keeps a small store of the format before
 * (test/support/stores/writePackedStore.ts).
 */
import {encodeFormat, FORMAT_VERSION} from "../block/format.ts";
import type {WriteTarget} from "../commit/writeTarget.ts";
import {StoreError} from "../errors.ts";
import {writeFailed} from "../leveldb/levelErrors.ts";
import {META} from "../record/layout.ts";
import {sealRecord} from "../record/record.ts";
import {addKeyMark} from "./addKeyMark.ts";

interface ConversionStep {
  readonly to: number;
  /** @returns the last records: keys and bodies. @throws StoreError: the store keeps the old format */
  readonly convert: (target: WriteTarget) => Promise<readonly (readonly [key: Buffer, body: Buffer])[]>;
}

const STEPS: readonly ConversionStep[] = [{to: 5, convert: addKeyMark}];

/** Called before and after each step. */
export type OnConversion = (step: {
  readonly isDone: boolean;
  readonly from: number;
  readonly to: number;
}) => void;

/**
 * @param version - of the store's format. Of the newest one, nothing is to be done
 * @throws StoreError WRITE_FAILED, and those of reading
 */
export async function convertStore(
  target: WriteTarget,
  version: number,
  onConversion: OnConversion,
): Promise<void> {
  for (const {to, convert} of STEPS) {
    if (to <= version) continue;
    onConversion({isDone: false, from: to - 1, to});
    const records = await convert(target);
    const format = encodeFormat(to, target.reader.suite.name);
    const batch = target.db.batch();
    for (const [key, body] of [...records, [META.format, format] as const])
      batch.put(key, sealRecord(key, body));
    try {
      await batch.write({sync: true});
    } catch (error) {
      throw writeFailed(error);
    }
    onConversion({isDone: true, from: to - 1, to});
  }
}

/** Why a store of an older format is not opened for reading only. */
export function needsConversion(directory: string, version: number): StoreError {
  return new StoreError(
    "FORMAT_MISMATCH",
    `${directory} has store format ${version}, which this proofd converts to ${FORMAT_VERSION} when it can write to the store, and it cannot: ` +
      "make room or allow writing, or use the release that wrote it",
  );
}
