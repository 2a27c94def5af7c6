/**
 * The bits of an answer that stand between its bytes (docs/proofs.md, 16.2):
 *
 *   | bits 0 to 7 | what the answer has up to bit 8 | bits 8 to 15 | ...      the first bit of a byte is its highest
 */
import type {AnswerText} from "./answerText.ts";

export class FlagBits {
  /** Where the byte of the last bit stands. */
  private at = 0;
  private byte = 0;
  private unused = 0;

  begin(): void {
    this.unused = 0;
  }

  /** Appends a bit. One byte must be reserved. */
  write(text: AnswerText, bit: boolean): void {
    if (this.unused === 0) {
      this.at = text.size;
      this.byte = 0;
      this.unused = 8;
      text.byte(0);
    }
    this.unused--;
    if (!bit) return;
    this.byte |= 1 << this.unused;
    text.integerAt(this.at, this.byte, 1);
  }
}
