/**
 * The text that a task came back with, cut into the pieces of the requests that share it, and the end of its memory:
 *
 *   TaskText   | request A | request B      | A's next | unused ... |     uses: one per piece, and one while it is cut
 *                   |            |               |
 *   Piece        sent        waits, small    dropped                      the last one to be released gives the memory back
 *                            -> a copy
 */
import type {AnswerMemory} from "./answerMemory.ts";

/** A piece that has to wait keeps at most so many times its own bytes from being used again. */
const MAX_KEPT_FACTOR = 4;

export class TaskText {
  private readonly text: Uint8Array;
  private readonly memory: AnswerMemory | undefined;
  private uses = 1;

  /** @param memory - takes over what `text` lies in when nobody uses it any more; undefined: the garbage collector does */
  constructor(text: Uint8Array, memory?: AnswerMemory) {
    this.text = text;
    this.memory = memory;
  }

  /** Bytes that any piece keeps. */
  get memoryBytes(): number {
    return this.text.buffer.byteLength;
  }

  /** Bytes `from` to `to`, as one more use. Not after the last release. */
  cut(from: number, to: number): Piece {
    this.uses++;
    return new Piece(this.text.subarray(from, to), this);
  }

  /** Ends one use; the maker's is ended when all is cut. */
  release(): void {
    if (--this.uses === 0) this.memory?.put(this.text.buffer as ArrayBuffer);
  }
}

/** Bytes of a response that are to be sent. Whoever has the piece releases it, once it is sent or not wanted. */
export class Piece {
  private byteCount: Uint8Array;
  /** What the bytes are a part of; null where they are the piece's own. */
  private text: TaskText | null;

  constructor(bytes: Uint8Array, text: TaskText | null = null) {
    this.byteCount = bytes;
    this.text = text;
  }

  /** Not to be kept beyond the release, nor changed. */
  get bytes(): Uint8Array {
    return this.byteCount;
  }

  get length(): number {
    return this.byteCount.length;
  }

  /** Takes bytes off the end. */
  shorten(byteCount: number): void {
    this.byteCount = this.byteCount.subarray(0, this.byteCount.length - byteCount);
  }

  /** Before waiting for whoever it may be: a small part of large memory moves out of it. */
  wait(): void {
    const text = this.text;
    if (text === null || text.memoryBytes <= MAX_KEPT_FACTOR * this.byteCount.length) return;
    this.byteCount = new Uint8Array(this.byteCount);
    this.text = null;
    text.release();
  }

  /** The first call counts. */
  release(): void {
    this.byteCount = NO_BYTES;
    this.text?.release();
    this.text = null;
  }
}

const NO_BYTES = new Uint8Array(0);
