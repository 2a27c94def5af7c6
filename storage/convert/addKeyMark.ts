/**
 * Format 4 to 5: leaves have keys (keys/leafKeys.ts). Those of the leaves that are there are not known, and are counted. Importing the
 * same blocks again fills them in.
 */
import type {WriteTarget} from "../commit/writeTarget.ts";
import {encodeKeyMark} from "../keys/keyMark.ts";
import {NO_KEYS} from "../keys/leafKeys.ts";
import {UnknownKeys} from "../keys/unknownKeys.ts";
import {META} from "../record/layout.ts";

/** Reads every leaf page of the newest block once. @throws StoreError RECORD_MISSING, RECORD_DAMAGED */
export async function addKeyMark({reader}: WriteTarget): Promise<[key: Buffer, body: Buffer][]> {
  const latest = await reader.latest();
  const unknown =
    latest === undefined
      ? 0
      : new UnknownKeys(reader.pages, () => NO_KEYS).added(undefined, reader.blockOrThrow(latest).accounts);
  return [[META.keys, encodeKeyMark({unknown, from: 0, to: latest === undefined ? 0 : latest + 1})]];
}
