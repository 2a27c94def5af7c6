/**
 * The text of a task's answers, or bytes where the caller asked for bytes. It is written into memory that the task brought, or
 * into the thread's own memory if the task brought none or too little:
 *
 *   lent memory    written, handed back with the text in it: no copy, no pages that the kernel has to clear
 *   own memory     grows by doubling, kept from task to task; the text is copied out
 */
import {WORD_BYTES} from "../../storage/hash/suite.ts";
import type {Answers} from "../job/answers.ts";
import {writeHexInto} from "./hexDigits.ts";

const INITIAL_BYTES = 1 << 20;
/** Below this, copying a text is cheaper than handing over its memory (10 KB: 13 against 17 us a task). */
export const TRANSFER_BYTES = 16 << 10;

export class AnswerText {
  private own = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  private lent: ArrayBuffer | undefined;
  /** All of `lent`, or `own`. */
  private bytes = this.own;
  private length = 0;

  /** Begins a text, in `memory` if it has room for it. */
  clear(memory?: ArrayBuffer): void {
    this.lent = memory;
    this.bytes = memory === undefined ? this.own : Buffer.from(memory);
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

  /**
   * Returns what was written. The caller owns all returned memory and may transfer it.
   *
   * @returns `text`: in the lent memory, else a copy of its own size; `unused`: the lent memory if `text` is not in it
   */
  take(): Pick<Answers, "text" | "unused"> {
    const {lent, bytes, length} = this;
    if (lent === undefined) return {text: new Uint8Array(bytes.subarray(0, length))};
    // The memory is given away and must not be written into again.
    this.clear();
    if (bytes.buffer === lent && length >= TRANSFER_BYTES) return {text: new Uint8Array(lent, 0, length)};
    return {text: new Uint8Array(bytes.subarray(0, length)), unused: lent};
  }
}
