/**
 * What is known of the keys of all leaves (record `keys` of META).
 *
 *   body   unknown u48 | from u48 | to u48
 *
 *   blocks   0 ........ from ........ to ........ newest
 *            filled in |  keys of their | written with
 *            since     |  leaves may be | their leaves
 *                      |  unknown       |
 *
 * A store that was made with keys has 0 0 0. One that was converted from format 4 begins with all its leaves, 0, and the number of
 * its blocks. Importing the same blocks again fills the keys in (commit/leafKeyFiller.ts).
 */
import {BodyReader, encodeNumber} from "../record/body.ts";
import {META, nameOfKey} from "../record/layout.ts";

export interface KeyMark {
  /** Leaves of the newest block without a known key. Head and tail of a tree have none, and do not count. */
  readonly unknown: number;
  readonly from: number;
  /** 0: the store has had keys from its first block on. */
  readonly to: number;
}

export const ALL_KNOWN: KeyMark = {unknown: 0, from: 0, to: 0};

export function encodeKeyMark({unknown, from, to}: KeyMark): Buffer {
  return Buffer.concat([encodeNumber(unknown), encodeNumber(from), encodeNumber(to)]);
}

/** @throws StoreError RECORD_DAMAGED */
export function decodeKeyMark(body: Buffer): KeyMark {
  const reader = new BodyReader(nameOfKey(META.keys), body);
  return reader.end({unknown: reader.number(), from: reader.number(), to: reader.number()});
}
