/**
 * The buffer that a task's answers are written into: grows by doubling, kept from task to task.
 */
import {writeHexInto} from "./hexText.ts";

const INITIAL_BYTES = 1 << 20;

export class AnswerText {
  private bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  private length = 0;

  /** Empties the buffer. */
  clear(): void {
    this.length = 0;
  }

  get size(): number {
    return this.length;
  }

  /** Takes back what was written since `size` was this. */
  truncate(size: number): void {
    this.length = size;
  }

  /** Makes room, so that the writes of one proof need not each ask. */
  reserve(bytes: number): void {
    if (this.length + bytes <= this.bytes.length) return;
    let size = this.bytes.length * 2;
    while (size < this.length + bytes) size *= 2;
    const grown = Buffer.allocUnsafeSlow(size);
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }

  /** Text of ASCII characters; its room is reserved. */
  ascii(text: string): void {
    this.length += this.bytes.write(text, this.length, "latin1");
  }

  /** Text of any characters. */
  text(text: string): void {
    this.reserve(3 * text.length);
    this.length += this.bytes.write(text, this.length, "utf8");
  }

  /** Ready-made ASCII; its room is reserved. */
  raw(ascii: Uint8Array): void {
    this.bytes.set(ascii, this.length);
    this.length += ascii.length;
  }

  /** `0x` and the bytes' digits between quotes; room is reserved. */
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

  byte(ascii: number): void {
    this.bytes[this.length++] = ascii;
  }

  /** A copy of what was written, whose memory can be transferred. */
  take(): Uint8Array {
    return new Uint8Array(this.bytes.subarray(0, this.length));
  }
}
