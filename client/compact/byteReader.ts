/** Reads a proof's bytes from front to back; every error is a ProofError that names the offset. */
import {count} from "../bytes/values.ts";
import {check} from "../proof/strictJson.ts";

const WORD_BYTES = 32;

export class ByteReader {
  private at = 0;

  constructor(private readonly bytes: Uint8Array) {}

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
      () => this.place(),
      () => `expected ${count(length, "byte")}, got ${this.bytes.length - this.at}`,
    );
    const view = this.bytes.subarray(this.at, end);
    this.at = end;
    return view;
  }

  /** A length byte, and a number of so many bytes. @returns 32 bytes */
  word(): Uint8Array {
    return this.wordOf(this.u8());
  }

  /** A number of `length` bytes without leading zeros. @returns 32 bytes */
  wordOf(length: number): Uint8Array {
    const at = () => this.place();
    check(length <= WORD_BYTES, at, () => `expected a number of at most ${WORD_BYTES} bytes, got ${length}`);
    check(length === 0 || this.bytes[this.at] !== 0, at, "a number begins with a zero byte");
    const word = new Uint8Array(WORD_BYTES);
    word.set(this.take(length), WORD_BYTES - length);
    return word;
  }

  /** Nothing may follow. */
  end(): void {
    const left = this.bytes.length - this.at;
    check(left === 0, this.place(), `expected the end of the proof, got ${count(left, "more byte")}`);
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
