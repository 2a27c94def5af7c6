/** The pieces of an answer that are not sent yet, the first of them perhaps in part; they are released when they are sent. */
import {Fifo} from "../answer/fifo.ts";
import {Piece} from "../answer/taskText.ts";
import type {UnsentBytes} from "./unsentBytes.ts";

/** Pieces up to this size together are joined to one write. */
const JOIN_BYTES = 64 * 1024;

export class PieceQueue {
  /** Of all pieces, what is not sent. */
  bytes = 0;
  private readonly unsent: UnsentBytes;
  private readonly pieces = new Fifo<Piece>();
  /** Bytes of the first piece that are sent. */
  private sent = 0;

  /** @param unsent - of all answers */
  constructor(unsent: UnsentBytes) {
    this.unsent = unsent;
  }

  get isEmpty(): boolean {
    return this.pieces.length === 0;
  }

  add(pieces: readonly Piece[]): void {
    for (const piece of pieces) {
      if (piece.length === 0) {
        piece.release();
        continue;
      }
      this.pieces.push(piece);
      this.bytes += piece.length;
      this.unsent.add(piece.length);
    }
  }

  /** The next bytes, those of one piece; undefined: all are sent. */
  peek(): Uint8Array | undefined {
    const piece = this.pieces.peek();
    if (piece === undefined) return undefined;
    return this.sent === 0 ? piece.bytes : piece.bytes.subarray(this.sent);
  }

  /** So many of the bytes of `peek` are sent, or copied. */
  countSent(byteCount: number): void {
    this.sent += byteCount;
    this.bytes -= byteCount;
    this.unsent.remove(byteCount);
    const piece = this.pieces.peek() as Piece;
    if (this.sent < piece.length) return;
    this.pieces.shift();
    piece.release();
    this.sent = 0;
  }

  /** Makes small pieces one, for one write. */
  join(): void {
    if (this.pieces.length < 2 || this.bytes > JOIN_BYTES) return;
    const pieces: Piece[] = [];
    for (let piece = this.pieces.shift(); piece !== undefined; piece = this.pieces.shift())
      pieces.push(piece);
    this.pieces.push(new Piece(Buffer.concat(pieces.map(piece => piece.bytes))));
    for (const piece of pieces) piece.release();
  }

  /** Nobody wants the rest. */
  clear(): void {
    this.unsent.remove(this.bytes);
    this.bytes = 0;
    for (let piece = this.pieces.shift(); piece !== undefined; piece = this.pieces.shift()) piece.release();
  }
}
