/** The pieces of an answer that are not sent yet. The first may be sent in part. Sent pieces are released. */
import {Fifo} from "../request/fifo.ts";
import {Piece} from "../request/taskText.ts";
import type {UnsentBytes} from "./unsentBytes.ts";

/** Pieces are joined to one write if they have no more bytes than this together. */
const JOIN_BYTES = 64 * 1024;

export class PieceQueue {
  bytes = 0;
  private readonly pieces = new Fifo<Piece>();
  /** Bytes of the first piece that are sent. */
  private sent = 0;

  /** @param unsent - counts the unsent bytes of all answers */
  constructor(private readonly unsent: UnsentBytes) {}

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

  /** The unsent bytes of the first piece. undefined if all are sent. */
  peek(): Uint8Array | undefined {
    const piece = this.pieces.peek();
    if (piece === undefined) return undefined;
    return this.sent === 0 ? piece.bytes : piece.bytes.subarray(this.sent);
  }

  /** Notes that this many of the bytes of `peek` were sent or copied. */
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

  /** Joins small pieces to one, for a single write. */
  join(): void {
    if (this.pieces.length < 2 || this.bytes > JOIN_BYTES) return;
    const pieces: Piece[] = [];
    for (let piece = this.pieces.shift(); piece !== undefined; piece = this.pieces.shift())
      pieces.push(piece);
    this.pieces.push(new Piece(Buffer.concat(pieces.map(piece => piece.bytes))));
    for (const piece of pieces) piece.release();
  }

  clear(): void {
    this.unsent.remove(this.bytes);
    this.bytes = 0;
    for (let piece = this.pieces.shift(); piece !== undefined; piece = this.pieces.shift()) piece.release();
  }
}
