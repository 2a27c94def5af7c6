/**
 * The bits of an answer that stand between its bytes (docs/proofs.md, 16.2):
 *
 *   | bits 0 to 7 | what the answer has up to bit 8 | bits 8 to 15 | ...      the first bit of a byte is its highest
 */
import type {ByteReader} from "../compact/byteReader.ts";
import {check} from "../proof/strictJson.ts";

export class FlagBits {
  private byte = 0;
  private unused = 0;

  constructor(private readonly reader: ByteReader) {}

  /** @throws ProofError */
  read(): boolean {
    if (this.unused === 0) {
      this.byte = this.reader.u8();
      this.unused = 8;
    }
    this.unused--;
    return ((this.byte >> this.unused) & 1) === 1;
  }

  /** No bit may follow. @throws ProofError */
  end(): void {
    const isClear = (this.byte & ((1 << this.unused) - 1)) === 0;
    check(isClear, () => this.reader.place(), "a bit that has no meaning is set");
  }
}
