/**
 * The text of a task's answers, or bytes where the caller asked for bytes. It is written into memory of the thread's
 * own, which grows by doubling and is kept from task to task, and copied out whole.
 *
 * Not written straight into the memory that threads share: V8 copies to and from such memory byte by byte, unless both
 * ends are aligned alike. That took a quarter of a proof's instructions.
 */
import {WORD_BYTES} from "../../storage/hash/suite.ts";
import {spreadHex, writeHexInto} from "./hexDigits.ts";
import type {YieldPoint} from "./yieldPoint.ts";

const INITIAL_BYTES = 1 << 20;
/** Between two checks for a short job. Their digits take 16 us. */
const HEX_PART_BYTES = 1 << 14;

export class AnswerText {
  private bytes: Buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  private length = 0;

  clear(): void {
    this.length = 0;
  }

  get size(): number {
    return this.length;
  }

  /** Drops what was written since `size` had this value. */
  truncate(size: number): void {
    this.length = size;
  }

  /** Makes room once, so that each write of a proof need not check for room. */
  reserve(bytes: number): void {
    if (this.length + bytes <= this.bytes.length) return;
    let size = this.bytes.length;
    while (size < this.length + bytes) size *= 2;
    const roomy = Buffer.allocUnsafeSlow(size);
    this.bytes.copy(roomy, 0, 0, this.length);
    this.bytes = roomy;
  }

  /** Appends ASCII text. Its room must be reserved. A loop, as in `word`: for short texts. */
  ascii(text: string): void {
    const {bytes} = this;
    let at = this.length;
    for (let i = 0; i < text.length; i++) bytes[at++] = text.charCodeAt(i);
    this.length = at;
  }

  text(text: string): void {
    this.reserve(3 * text.length);
    this.length += this.bytes.write(text, this.length, "utf8");
  }

  /** Appends bytes. Their room must be reserved. */
  raw(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Appends `0x` and the bytes' digits between quotes. The room must be reserved. */
  quotedHex(from: Uint8Array, start: number, end: number): void {
    const {bytes} = this;
    let at = this.length;
    bytes[at] = 0x22;
    bytes[at + 1] = 0x30;
    bytes[at + 2] = 0x78;
    at = writeHexInto(bytes, at + 3, from, start, end);
    bytes[at] = 0x22;
    this.length = at + 1;
  }

  /** Appends a big-endian number between quotes, `0x` and digits without leading zeros. The room must be reserved. */
  quotedNumber(from: Uint8Array, start: number, end: number): void {
    let first = start;
    while (first < end && from[first] === 0) first++;
    const at = this.length + '"0x'.length;
    this.quotedHex(from, first, end);
    if (first === end) {
      this.length = at;
      this.ascii('0"');
    } else if ((from[first] as number) < 0x10) {
      // Its first digit is a zero.
      this.bytes.copyWithin(at, at + 1, this.length);
      this.length--;
    }
  }

  /** Puts the hex digits of all bytes since `size` was `start` in their place. */
  hexFrom(start: number, yieldPoint: YieldPoint): void {
    const {length} = this;
    this.reserve(length - start);
    const {bytes} = this;
    // The last ones first: each part's digits are written over bytes that have theirs already, and over its own.
    for (let end = length, at: number; end > start; end = at) {
      yieldPoint.check();
      at = Math.max(start, end - HEX_PART_BYTES);
      spreadHex(bytes, at, end, 2 * end - start);
    }
    this.length = 2 * length - start;
  }

  /** Appends the 32 bytes at `start` of `from`; room must be reserved. A loop: a view takes longer than the copy. */
  word(from: Uint8Array, start: number): void {
    const {bytes, length} = this;
    for (let i = 0; i < WORD_BYTES; i++) bytes[length + i] = from[start + i] as number;
    this.length = length + WORD_BYTES;
  }

  /** Appends `from[start..end)`. Its room must be reserved. A loop, as in `word`: for short parts. */
  part(from: Uint8Array, start: number, end: number): void {
    const {bytes} = this;
    let at = this.length;
    for (let i = start; i < end; i++) bytes[at++] = from[i] as number;
    this.length = at;
  }

  /** Writes a big-endian integer over what stands at `at`, where `size` was when its room was left. */
  integerAt(at: number, value: number, byteCount: number): void {
    this.bytes.writeUIntBE(value, at, byteCount);
  }

  /** Appends a big-endian integer of up to 6 bytes. Its room must be reserved. */
  integer(value: number, byteCount: number): void {
    this.length = this.bytes.writeUIntBE(value, this.length, byteCount);
  }

  byte(byte: number): void {
    this.bytes[this.length++] = byte;
  }

  /** @returns `memory`, which begins with the text; a copy that the caller owns if it has no room, or is not lent */
  take(memory?: Buffer): Uint8Array {
    const written = this.bytes.subarray(0, this.length);
    if (memory === undefined || memory.length < written.length) return new Uint8Array(written);
    memory.set(written);
    return memory;
  }
}
