/**
 * The body of a record that holds one number: a block's number under its hash, and the marks `finalized` and `floor`
 * (layout.ts).
 *
 *   body   u48
 */
import {StoreError} from "../errors.ts";
import {nameOfKey} from "./layout.ts";

const NUMBER_BYTES = 6;

export function encodeNumber(number: number): Buffer {
  const body = Buffer.allocUnsafe(NUMBER_BYTES);
  body.writeUIntBE(number, 0, NUMBER_BYTES);
  return body;
}

/** @param key - the record's key, for the message. @throws StoreError RECORD_DAMAGED */
export function decodeNumber(key: Buffer, body: Buffer): number {
  if (body.length !== NUMBER_BYTES)
    throw new StoreError(
      "RECORD_DAMAGED",
      `${nameOfKey(key)}: expected ${NUMBER_BYTES} bytes, got ${body.length}`,
    );
  return body.readUIntBE(0, NUMBER_BYTES);
}
