/**
 * Reads RLP item by item, without recursion and without copies. Every error names the byte.
 *
 * Only the shortest form of each item is accepted, so no two encodings mean the same. @ethereumjs/rlp is not used: it builds a
 * tree of arrays as deep as the input says, and its errors name no place.
 */
import {TrieLogError} from "./trieLogError.ts";

const STRING = 0x80;
const LONG_STRING = 0xb7;
const LIST = 0xc0;
const LONG_LIST = 0xf7;
/** A length below this one is part of the first byte. */
const SHORT_LENGTHS = 56;
/** Four bytes of length: 2^32 - 1 bytes are more than any input has. */
const MAX_LENGTH_BYTES = 4;

interface Item {
  readonly isList: boolean;
  /** Where the payload starts and ends. */
  readonly start: number;
  readonly end: number;
}

export class RlpReader {
  private at = 0;
  /** Where the entered lists end, the innermost last. */
  private readonly ends: number[];

  constructor(
    private readonly bytes: Uint8Array,
    /** What is read. Messages begin with it. */
    public where: string,
  ) {
    this.ends = [bytes.length];
  }

  /** Has the innermost list no more items? */
  get isAtEnd(): boolean {
    return this.at === this.end;
  }

  get nextIsList(): boolean {
    return !this.isAtEnd && (this.bytes[this.at] as number) >= LIST;
  }

  /** 0x80: null, zero or no bytes. */
  get nextIsNull(): boolean {
    return !this.isAtEnd && this.bytes[this.at] === STRING;
  }

  enterList(what: string): void {
    const {isList, start, end} = this.peek(what);
    if (!isList) throw this.error(`${what}: expected a list, got bytes`);
    this.at = start;
    this.ends.push(end);
  }

  leaveList(what: string): void {
    if (!this.isAtEnd) throw this.error(`${what} has more items than expected`);
    this.ends.pop();
  }

  /** The whole input has been read. */
  finish(): void {
    if (!this.isAtEnd) throw this.error("bytes after the end of the list");
  }

  /** A view. */
  readBytes(what: string): Uint8Array {
    const {isList, start, end} = this.peek(what);
    if (isList) throw this.error(`${what}: expected bytes, got a list`);
    this.at = end;
    return this.bytes.subarray(start, end);
  }

  /** A view. */
  readFixed(what: string, length: number): Uint8Array {
    const at = this.at;
    const bytes = this.readBytes(what);
    if (bytes.length !== length)
      throw this.error(`${what}: expected ${length} bytes, got ${bytes.length}`, at);
    return bytes;
  }

  /** Bytes of a number without leading zeros, a view. */
  readScalar(what: string, maxBytes: number): Uint8Array {
    const at = this.at;
    const bytes = this.readBytes(what);
    if (bytes.length > maxBytes)
      throw this.error(`${what}: expected at most ${maxBytes} bytes, got ${bytes.length}`, at);
    if (bytes[0] === 0) throw this.error(`${what} has leading zeros`, at);
    return bytes;
  }

  readNumber(what: string, maxBytes: number): bigint {
    const bytes = this.readScalar(what, maxBytes);
    return bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
  }

  skipNull(): void {
    this.at++;
  }

  error(message: string, at = this.at): TrieLogError {
    return new TrieLogError(`${this.where}, byte ${at}: ${message}`);
  }

  private get end(): number {
    return this.ends[this.ends.length - 1] as number;
  }

  private peek(what: string): Item {
    const {bytes, at, end} = this;
    if (at === end) throw this.error(`${what} is missing`);
    const first = bytes[at] as number;
    if (first < STRING) return {isList: false, start: at, end: at + 1};
    const isList = first >= LIST;
    const longest = isList ? LONG_LIST : LONG_STRING;
    let start = at + 1;
    let length = first - (isList ? LIST : STRING);
    if (first > longest) {
      const lengthBytes = first - longest;
      if (lengthBytes > MAX_LENGTH_BYTES || start + lengthBytes > end)
        throw this.error(`${what} is longer than what holds it`);
      length = Buffer.from(bytes.buffer, bytes.byteOffset + start, lengthBytes).readUIntBE(0, lengthBytes);
      if (bytes[start] === 0 || length < SHORT_LENGTHS)
        throw this.error(`the length of ${what} is not in its shortest form`);
      start += lengthBytes;
    }
    if (start + length > end) throw this.error(`${what} is longer than what holds it`);
    if (!isList && length === 1 && (bytes[start] as number) < STRING)
      throw this.error(`${what} is not in its shortest form`);
    return {isList, start, end: start + length};
  }
}
