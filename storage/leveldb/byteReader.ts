/** Reads LevelDB's varints and length-prefixed bytes. Methods throw RangeError. */

/** Longer ones are not exact numbers, and no file number, length or level needs them. */
const MAX_VARINT_BITS = 49;

export class ByteReader {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  get isAtEnd(): boolean {
    return this.at === this.bytes.length;
  }

  /** @throws RangeError beyond the end */
  byte(): number {
    const byte = this.bytes[this.at++];
    if (byte === undefined) throw new RangeError("it ends within a field");
    return byte;
  }

  /** Seven bits per byte, lowest first: at most 2^49 - 1. */
  varint(): number {
    let value = 0;
    for (let bits = 0; bits < MAX_VARINT_BITS; bits += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** bits;
      if (byte < 0x80) return value;
    }
    throw new RangeError("a number is too large");
  }

  /** @returns a view. @throws RangeError beyond the end */
  prefixedBytes(): Buffer {
    const length = this.varint();
    if (length > this.bytes.length - this.at) throw new RangeError("it ends within a field");
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}
