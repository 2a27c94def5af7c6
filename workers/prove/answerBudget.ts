/** What one answer with changes may hold, and what may be read for it. An answer has one leaf at least. */
import type {Pages} from "../../storage/cache/pages.ts";
import type {AnswerText} from "./answerText.ts";

export interface AnswerLimits {
  /** Bytes of the answer, beyond which no further leaf is begun. */
  readonly bytes: number;
  /** Pages that are read for it, as above. */
  readonly pages: number;
}

export class AnswerBudget {
  /** Leaves that are in the answer. */
  leaves = 0;
  private count = 0;
  private start = 0;
  private firstRead = 0;

  constructor(
    private readonly pages: Pages,
    private readonly limits: AnswerLimits,
  ) {}

  /** @param start - size of the text where the answer begins. @param count - leaves, at most */
  begin(start: number, count: number): void {
    this.leaves = 0;
    this.start = start;
    this.count = count;
    this.firstRead = this.pages.reads;
  }

  /** Is there room for no further leaf? */
  isSpent(text: AnswerText): boolean {
    const {leaves, limits, pages} = this;
    if (leaves === 0) return false;
    const isRead = pages.reads - this.firstRead > limits.pages;
    return leaves >= this.count || text.size - this.start > limits.bytes || isRead;
  }
}
