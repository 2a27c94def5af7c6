/**
 * The text of a task's answers, cut into pieces for the requests that share it. The last piece to be released returns
 * its memory:
 *
 *   TaskText   | request A | request B      | A's next | unused ... |     uses: one per piece, and one while it is cut
 *                   |            |               |
 *   Piece        sent        waits, small    dropped                      the last one returns the memory
 *                            -> a copy
 */
import type {AnswerMemory} from "../../workers/messages/answerMemory.ts";
import type {Answers} from "../../workers/messages/answers.ts";

/** What waits may keep at most this many times its own bytes of memory in use. */
const MAX_KEPT_FACTOR = 4;

export class TaskText {
  private uses = 1;

  /** @param memory - of `text`, returned after the last use. Without it, the garbage collector frees the text */
  constructor(
    private readonly text: Uint8Array,
    private readonly memory?: AnswerMemory,
  ) {}

  /** @returns whether `byteCount` bytes of the text may wait for their reader in place. If not, they must be copied */
  keep(byteCount: number): boolean {
    const {memory, text} = this;
    const memoryBytes = memory === undefined ? text.buffer.byteLength : memory.bytes.length;
    return memoryBytes <= MAX_KEPT_FACTOR * byteCount && (memory === undefined || memory.keep());
  }

  /** Cuts out bytes `from` to `to`, as one more use. May not be called after the last release. */
  cut(from: number, to: number): Piece {
    this.uses++;
    return new Piece(this.text.subarray(from, to), this);
  }

  /** Ends one use. The maker of the TaskText also has one, and ends it when all pieces are cut. */
  release(): void {
    if (--this.uses === 0) this.memory?.release();
  }
}

/** Bytes of a response that are to be sent. The owner of a piece releases it when it is sent or not needed. */
export class Piece {
  constructor(
    /** Valid until the release. May not be changed. */
    public bytes: Uint8Array,
    /** The text that the bytes are a part of. undefined if the bytes are the piece's own. */
    private text?: TaskText,
  ) {}

  get length(): number {
    return this.bytes.length;
  }

  /** @returns whether `byteCount` of the bytes may be kept after the release: nobody writes their memory, and it is not much more */
  isStable(byteCount: number): boolean {
    return this.text === undefined && this.bytes.buffer.byteLength <= MAX_KEPT_FACTOR * byteCount;
  }

  shorten(byteCount: number): void {
    this.bytes = this.bytes.subarray(0, this.bytes.length - byteCount);
  }

  /** Call before the piece waits. Most are copied, so that the memory can be used again. */
  wait(): void {
    const text = this.text;
    if (text === undefined || text.keep(this.bytes.length)) return;
    this.bytes = new Uint8Array(this.bytes);
    this.text = undefined;
    text.release();
  }

  /** Ends the use of the bytes. Further calls do nothing. */
  release(): void {
    this.bytes = NO_BYTES;
    this.text?.release();
    this.text = undefined;
  }
}

const NO_BYTES = new Uint8Array(0);

export interface TaskAnswers extends Answers {
  /** The memory of `text`, returned after the last use. Without it, the garbage collector frees the memory. */
  readonly memory?: AnswerMemory;
  /** The code that each answer is counted under: 0, or its error's code. Without it, `text` has results only. */
  readonly codes?: readonly number[];
}
