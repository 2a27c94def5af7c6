/** Reads a proof's bytes from front to back; every error is a ProofError that names the offset. */
import {check} from "../proof/strictJson.ts";

const MAX_NUMBER_BYTES = 32;

export class ByteReader {
  private readonly bytes: Uint8Array;
  private at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  u8(): number {
    return this.unsigned(1);
  }

  u16(): number {
    return this.unsigned(2);
  }

  u40(): number {
    return this.unsigned(5);
  }

  /** @returns a view of the next bytes */
  take(length: number): Uint8Array {
    const end = this.at + length;
    check(
      end <= this.bytes.length,
      this.place(),
      `${length} bytes expected, ${this.bytes.length - this.at} left`,
    );
    const view = this.bytes.subarray(this.at, end);
    this.at = end;
    return view;
  }

  /** A length byte, and a number of so many bytes. */
  number(): bigint {
    return this.numberOf(this.u8());
  }

  /** A number of `length` bytes without leading zeros. */
  numberOf(length: number): bigint {
    check(length <= MAX_NUMBER_BYTES, this.place(), `a number of ${length} bytes`);
    check(length === 0 || this.bytes[this.at] !== 0, this.place(), "a number begins with a zero byte");
    let n = 0n;
    for (const byte of this.take(length)) n = (n << 8n) | BigInt(byte);
    return n;
  }

  /** Nothing may follow. */
  end(): void {
    check(
      this.at === this.bytes.length,
      this.place(),
      `${this.bytes.length - this.at} bytes after the proof`,
    );
  }

  /** The place of the next byte, for messages. */
  place(): string {
    return `byte ${this.at}`;
  }

  private unsigned(length: number): number {
    let n = 0;
    for (const byte of this.take(length)) n = 256 * n + byte;
    return n;
  }
}
