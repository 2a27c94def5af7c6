/** Strict RLP decoding: every value has exactly one valid encoding. */
import {encodeHex} from "../bytes/hex.ts";
import {count} from "../bytes/values.ts";
import {check, type Message} from "../proof/strictJson.ts";

export interface RlpItem {
  readonly isList: boolean;
  readonly payload: Uint8Array;
  /** The payload with its length prefix. */
  readonly encoded: Uint8Array;
}

/** The longest payload whose length is in the first byte. */
const MAX_SHORT = 55;

/** @throws ProofError, also for bytes after the item */
export function decodeItem(at: Message, bytes: Uint8Array): RlpItem {
  const item = readItem(at, bytes, 0);
  check(item.encoded.length === bytes.length, at, "trailing bytes after the RLP item");
  return item;
}

/** @returns the items of the list that is all of `bytes`. @throws ProofError */
export function decodeList(at: Message, bytes: Uint8Array): RlpItem[] {
  const {isList, payload} = decodeItem(at, bytes);
  check(isList, at, "expected an RLP list");
  const items: RlpItem[] = [];
  for (let start = 0; start < payload.length; ) {
    const item = readItem(at, payload, start);
    items.push(item);
    start += item.encoded.length;
  }
  return items;
}

export function readNumber(at: Message, {isList, payload}: RlpItem, maxBytes: number): bigint {
  check(!isList && payload.length <= maxBytes, at, () => `expected a number of at most ${maxBytes} bytes`);
  check(payload[0] !== 0, at, "a number begins with a zero byte");
  return payload.length === 0 ? 0n : BigInt(encodeHex(payload));
}

export function readHash(at: Message, {isList, payload}: RlpItem): Uint8Array {
  check(!isList && payload.length === 32, at, () => `expected a hash, got ${count(payload.length, "byte")}`);
  return payload;
}

export function readItem(at: Message, bytes: Uint8Array, start: number): RlpItem {
  const first = bytes[start] ?? 0x100;
  if (first < 0x80) {
    const byte = bytes.subarray(start, start + 1);
    return {isList: false, payload: byte, encoded: byte};
  }
  const isList = first >= 0xc0;
  let from = start + 1;
  let length = first - (isList ? 0xc0 : 0x80);
  const isLong = length > MAX_SHORT;
  if (isLong) {
    from += length - MAX_SHORT;
    length = 0;
    for (const byte of bytes.subarray(start + 1, from)) length = 256 * length + byte;
  }
  check(from + length <= bytes.length, at, "RLP ends too early");
  const payload = bytes.subarray(from, from + length);
  const isShortest = isLong
    ? length > MAX_SHORT && bytes[start + 1] !== 0
    : isList || length !== 1 || (payload[0] as number) >= 0x80;
  check(isShortest, at, "RLP is not in its shortest form");
  return {isList, payload, encoded: bytes.subarray(start, from + length)};
}
