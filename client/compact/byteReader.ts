/** Reads a proof's bytes from front to back; every error is a ProofError that names the offset. */
import {readWord} from "../hash/hashSuites.ts";
import {ProofError} from "../proof/proofError.ts";
import {check} from "../proof/strictJson.ts";

const MAX_NUMBER_BYTES = 32;
/** Numbers of so many bytes fit a JavaScript number. */
const SAFE_NUMBER_BYTES = 6;

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
    if (end > this.bytes.length)
      throw new ProofError(this.place(), `expected ${length} bytes, got ${this.bytes.length - this.at}`);
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
    const at = () => this.place();
    check(length <= MAX_NUMBER_BYTES, at, () => `a number of ${length} bytes`);
    check(length === 0 || this.bytes[this.at] !== 0, at, "a number begins with a zero byte");
    if (length <= SAFE_NUMBER_BYTES) return BigInt(this.unsigned(length));
    const number = new Uint8Array(32);
    number.set(this.take(length), 32 - length);
    return readWord(number);
  }

  /** Nothing may follow. */
  end(): void {
    const left = this.bytes.length - this.at;
    check(left === 0, this.place(), `${left} bytes after the proof`);
  }

  /** The place of the next byte, for messages. */
  place(): string {
    return `byte ${this.at}`;
  }

  private unsigned(length: number): number {
    const bytes = this.take(length);
    let n = 0;
    for (let i = 0; i < length; i++) n = 256 * n + (bytes[i] as number);
    return n;
  }
}
