/**
 * One answer with changes: its text, the bits that stand between its bytes (docs/proofs.md, 16.2), and what it may
 * still hold.
 *
 *   | bits 0 to 7 | what the answer has up to bit 8 | bits 8 to 15 | ...      the first bit of a byte is its highest
 */
import type {Pages} from "../../storage/cache/pages.ts";
import type {AnswerText} from "./answerText.ts";

/** No further leaf is begun beyond either. */
export interface AnswerLimits {
  readonly bytes: number;
  /** Pages read. */
  readonly pages: number;
}

export class ChangesAnswer {
  leaves = 0;
  private readonly start: number;
  private readonly firstRead: number;
  /** Where the byte of the last bit stands. */
  private bitsAt = 0;
  private bits = 0;
  private unusedBits = 0;

  /** @param text - the answer begins at its end. @param count - leaves, at most */
  constructor(
    readonly text: AnswerText,
    private readonly pages: Pages,
    private readonly limits: AnswerLimits,
    private readonly count: number,
  ) {
    this.start = text.size;
    this.firstRead = pages.reads;
  }

  /** Whether there is no room for another leaf. The first one always fits. */
  get isFull(): boolean {
    const {leaves, limits, pages, text} = this;
    if (leaves === 0) return false;
    const isRead = pages.reads - this.firstRead > limits.pages;
    return leaves >= this.count || text.size - this.start > limits.bytes || isRead;
  }

  /** Appends a bit. One byte must be reserved. */
  writeBit(bit: boolean): void {
    const {text} = this;
    if (this.unusedBits === 0) {
      this.bitsAt = text.size;
      this.bits = 0;
      this.unusedBits = 8;
      text.byte(0);
    }
    this.unusedBits--;
    if (!bit) return;
    this.bits |= 1 << this.unusedBits;
    text.integerAt(this.bitsAt, this.bits, 1);
  }
}
