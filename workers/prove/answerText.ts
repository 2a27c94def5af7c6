/**
 * The text of a task's answers, or bytes where the caller asked for bytes. It is written into memory that is lent for it, or into
 * the thread's own if none is lent or it is too small:
 *
 *   lent memory    the text begins it: no copy, no pages that the kernel has to clear
 *   own memory     grows by doubling, kept from task to task; the text is copied out
 */
import {WORD_BYTES} from "../../storage/hash/suite.ts";
import {writeHexInto} from "./hexDigits.ts";

const INITIAL_BYTES = 1 << 20;

export class AnswerText {
  private own: Buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  /** The lent memory, or `own`. */
  private bytes = this.own;
  private length = 0;

  /** Begins a text, in `memory` if it has room for it. */
  clear(memory: Buffer = this.own): void {
    this.bytes = memory;
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
    let size = this.own.length;
    while (size < this.length + bytes) size *= 2;
    const roomy = size === this.own.length ? this.own : Buffer.allocUnsafeSlow(size);
    this.bytes.copy(roomy, 0, 0, this.length);
    this.bytes = roomy;
    this.own = roomy;
  }

  /** Appends ASCII text. Its room must be reserved. */
  ascii(text: string): void {
    this.length += this.bytes.write(text, this.length, "latin1");
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

  /** Puts the hex digits of all bytes since `size` was `start` in their place. */
  hexFrom(start: number): void {
    const digits = this.bytes.toString("hex", start, this.length);
    this.length = start;
    this.reserve(digits.length);
    this.ascii(digits);
  }

  /** Appends the 32 bytes at `start` of `from`. Their room must be reserved. A loop, because a view takes longer than the copy. */
  word(from: Uint8Array, start: number): void {
    const {bytes, length} = this;
    for (let i = 0; i < WORD_BYTES; i++) bytes[length + i] = from[start + i] as number;
    this.length = length + WORD_BYTES;
  }

  /** Appends a big-endian integer of up to 6 bytes. Its room must be reserved. */
  integer(value: number, byteCount: number): void {
    this.length = this.bytes.writeUIntBE(value, this.length, byteCount);
  }

  byte(byte: number): void {
    this.bytes[this.length++] = byte;
  }

  /** Returns what was written: the lent memory, whose front part it is, or a copy that the caller owns. */
  take(): Uint8Array {
    const {bytes, own, length} = this;
    // The memory is given back and must not be written into again.
    this.clear();
    return bytes === own ? new Uint8Array(own.subarray(0, length)) : bytes;
  }
}
