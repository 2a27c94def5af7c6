/** Reads a proof's bytes from front to back; every error is a ProofError that names the offset. */
import {count} from "../bytes/values.ts";
import {check, plainBytes, readBytes} from "../proof/strictJson.ts";

const WORD_BYTES = 32;

/** @param proof - bytes, or their hex. @throws ProofError for anything else */
export function openBytes(proof: Uint8Array | string): ByteReader {
  return new ByteReader(typeof proof === "string" ? readBytes("proof", proof) : proof);
}

export class ByteReader {
  private at = 0;

  private readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = plainBytes("proof", bytes);
  }

  take(length: number): Uint8Array {
    this.require(length);
    const view = this.bytes.subarray(this.at, this.at + length);
    this.at += length;
    return view;
  }

  /** A length byte, and a number of so many bytes. @returns 32 bytes */
  word(): Uint8Array {
    return this.wordOf(this.uint(1));
  }

  /** A number of `length` bytes without leading zeros. @returns 32 bytes */
  wordOf(length: number): Uint8Array {
    const word = new Uint8Array(WORD_BYTES);
    this.wordInto(word, 0, length);
    return word;
  }

  get left(): Uint8Array {
    return this.bytes.subarray(this.at);
  }

  end(): void {
    const left = this.bytes.length - this.at;
    check(left === 0, this.place(), `expected the end of the proof, got ${count(left, "more byte")}`);
  }

  /** As `wordOf`, into 32 bytes of `out`. */
  wordInto(out: Uint8Array, start: number, length: number): void {
    const place = () => this.place();
    check(
      length <= WORD_BYTES,
      place,
      () => `expected a number of at most ${WORD_BYTES} bytes, got ${length}`,
    );
    check(length === 0 || this.bytes[this.at] !== 0, place, "a number begins with a zero byte");
    this.require(length);
    const {bytes, at} = this;
    const digitsAt = start + WORD_BYTES - length;
    out.fill(0, start, digitsAt);
    for (let i = 0; i < length; i++) out[digitsAt + i] = bytes[at + i] as number;
    this.at = at + length;
  }

  place(): string {
    return `byte ${this.at}`;
  }

  /** An integer of `length` bytes, at most 6. */
  uint(length: number): number {
    this.require(length);
    const {bytes, at} = this;
    let n = 0;
    for (let i = 0; i < length; i++) n = 256 * n + (bytes[at + i] as number);
    this.at = at + length;
    return n;
  }

  private require(length: number): void {
    check(
      this.at + length <= this.bytes.length,
      () => this.place(),
      () => `expected ${count(length, "byte")}, got ${this.bytes.length - this.at}`,
    );
  }
}
