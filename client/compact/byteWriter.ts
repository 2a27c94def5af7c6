/** Writes a proof's bytes from front to back. */
import {joinBytes} from "../bytes/byteString.ts";
import {word} from "../hash/hashSuites.ts";

export class ByteWriter {
  private readonly parts: Uint8Array[] = [];

  u8(n: number): void {
    this.parts.push(word(n).subarray(31));
  }

  u16(n: number): void {
    this.parts.push(word(n).subarray(30));
  }

  u40(n: number): void {
    this.parts.push(word(n).subarray(27));
  }

  raw(bytes: Uint8Array): void {
    this.parts.push(bytes);
  }

  /** A length byte, and so many bytes. */
  number(n: bigint): void {
    const digits = shortest(n);
    this.u8(digits.length);
    this.raw(digits);
  }

  finish(): Uint8Array {
    return joinBytes(this.parts);
  }
}

/** @returns the bytes of a number below 2^256, big-endian, without leading zeros */
export function shortest(n: bigint): Uint8Array {
  const full = word(n);
  const first = full.findIndex(byte => byte !== 0);
  return first === -1 ? new Uint8Array() : full.subarray(first);
}
