/**
 * Reads RLP, in the only form that each value may have: shortest lengths, numbers without leading zeros. Returns views.
 *
 *   0x00..0x7f             the byte itself
 *   0x80 + n | bytes       n < 56 bytes             0xb7 + n | length in n bytes | bytes       longer ones
 *   0xc0 + n | items       a list of n < 56 bytes   0xf7 + n | length in n bytes | items       longer ones
 */

import {count} from "../count.ts";

const BYTES = 0x80;
const LIST = 0xc0;
const MAX_SHORT = 55;
/** Of a length. 2^48 bytes are more than any block has. */
const MAX_LENGTH_BYTES = 6;
const WORD_BYTES = 32;
const PART_BYTES = 6;
const PART_BITS = 48n;

export class RlpError extends Error {
  override readonly name = "RlpError";
}

export class RlpReader {
  /** @param bytes - no Buffer, whose views cost three times as much */
  constructor(
    readonly bytes: Uint8Array,
    public at = 0,
    readonly end = bytes.length,
  ) {}

  get isDone(): boolean {
    return this.at === this.end;
  }

  readList(): RlpReader {
    const start = this.enter(LIST);
    this.at = start.at + start.length;
    return new RlpReader(this.bytes, start.at, this.at);
  }

  get isList(): boolean {
    return !this.isDone && (this.bytes[this.at] as number) >= LIST;
  }

  get isEmpty(): boolean {
    return !this.isDone && this.bytes[this.at] === BYTES;
  }

  /** The rest of the items: byte strings without their lengths, lists with them. */
  readItems(): Uint8Array[] {
    const items: Uint8Array[] = [];
    while (!this.isDone) {
      const start = this.at;
      items.push(this.isList ? this.bytes.subarray(start, this.readList().end) : this.readBytes());
    }
    return items;
  }

  /** @param length - how many bytes it must have; undefined: any number */
  readBytes(length?: number): Uint8Array {
    const {at, length: got} = this.enter(BYTES);
    if (length !== undefined && got !== length)
      throw new RlpError(`expected ${count(length, "byte")}, got ${got}`);
    this.at = at + got;
    return this.bytes.subarray(at, this.at);
  }

  /** @param maxBytes - at most 32 */
  readNumber(maxBytes: number): bigint {
    const start = this.enterNumber(maxBytes);
    return readBigEndian(this.bytes, start, this.at);
  }

  /** As readNumber, its bytes: none for 0. */
  readNumberBytes(maxBytes: number): Uint8Array {
    const start = this.enterNumber(maxBytes);
    return this.bytes.subarray(start, this.at);
  }

  /** A number of at most 32 bytes, which are written to the end of the 32 bytes at `position`. */
  readWordInto(out: Uint8Array, position: number): void {
    const start = this.enterNumber(WORD_BYTES);
    out.set(this.bytes.subarray(start, this.at), position + WORD_BYTES - (this.at - start));
  }

  /** @throws RlpError unless everything was read */
  close(): void {
    if (!this.isDone) throw new RlpError(`expected the end, got ${count(this.end - this.at, "more byte")}`);
  }

  /** @returns where it begins; it ends at `at` */
  private enterNumber(maxBytes: number): number {
    const {at, length} = this.enter(BYTES);
    if (length > maxBytes)
      throw new RlpError(`expected a number of at most ${count(maxBytes, "byte")}, got ${length}`);
    if (this.bytes[at] === 0 && length > 0) throw new RlpError("expected a number without leading zeros");
    this.at = at + length;
    return at;
  }

  private enter(kind: typeof BYTES | typeof LIST): {at: number; length: number} {
    const {bytes} = this;
    if (this.at >= this.end) throw new RlpError("expected another item, got the end");
    const first = bytes[this.at] as number;
    if (first < BYTES && kind === BYTES) return {at: this.at, length: 1};
    if (first >= LIST !== (kind === LIST) || first < BYTES)
      throw new RlpError(kind === LIST ? "expected a list, got bytes" : "expected bytes, got a list");
    let at = this.at + 1;
    let length = first - kind;
    if (length > MAX_SHORT) {
      const lengthBytes = length - MAX_SHORT;
      if (lengthBytes > MAX_LENGTH_BYTES || bytes[at] === 0)
        throw new RlpError("expected a length in its shortest form");
      length = 0;
      for (const end = at + lengthBytes; at < end; at++) length = length * 256 + (bytes[at] as number);
      if (length <= MAX_SHORT) throw new RlpError("expected a length in its shortest form");
    } else if (kind === BYTES && length === 1 && (bytes[at] as number) < BYTES)
      throw new RlpError("expected a small byte without a length");
    if (!(at + length <= this.end)) throw new RlpError("an item is longer than what holds it");
    return {at, length};
  }
}

export function readAll<Item>(list: RlpReader, read: (list: RlpReader) => Item): Item[] {
  const items: Item[] = [];
  while (!list.isDone) items.push(read(list));
  return items;
}

/** By parts of 48 bits, which are exact as numbers. */
export function readBigEndian(bytes: Uint8Array, from = 0, to = bytes.length): bigint {
  let number = 0n;
  let at = from;
  for (let end = to - PART_BYTES * Math.floor((to - from) / PART_BYTES); at < to; end += PART_BYTES) {
    let part = 0;
    for (; at < end; at++) part = part * 256 + (bytes[at] as number);
    number = end === to && number === 0n ? BigInt(part) : (number << PART_BITS) + BigInt(part);
  }
  return number;
}
