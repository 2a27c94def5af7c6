/** The pieces of an answer that are not sent yet. The first may be sent in part. Sent pieces are released. */
import {Piece} from "../request/taskText.ts";
import type {UnsentBytes} from "./unsentBytes.ts";

/** Pieces are joined to one write if they have no more bytes than this together. */
const JOIN_BYTES = 64 * 1024;

const NONE: readonly Piece[] = [];

export class PieceQueue {
  bytes = 0;
  /** The unsent pieces are those from `first` on. Most answers are one piece. */
  private pieces: readonly Piece[] = NONE;
  private first = 0;
  private sent = 0;

  constructor(private readonly unsent: UnsentBytes) {}

  get isEmpty(): boolean {
    return this.first === this.pieces.length;
  }

  /** @param pieces - a list that does not change any more */
  add(pieces: readonly Piece[]): void {
    for (const {length} of pieces) {
      this.bytes += length;
      this.unsent.add(length);
    }
    this.pieces = this.isEmpty ? pieces : [...this.pieces.slice(this.first), ...pieces];
    this.first = 0;
    this.skipEmpty();
  }

  /** The unsent bytes of the first piece. undefined if all are sent. */
  peek(): Uint8Array | undefined {
    const piece = this.pieces[this.first];
    if (piece === undefined) return undefined;
    return this.sent === 0 ? piece.bytes : piece.bytes.subarray(this.sent);
  }

  /** @returns whether `byteCount` bytes of the first piece may be kept after they are counted as sent */
  isFirstStable(byteCount: number): boolean {
    return this.pieces[this.first]?.isStable(byteCount) ?? false;
  }

  countSent(byteCount: number): void {
    this.sent += byteCount;
    this.bytes -= byteCount;
    this.unsent.remove(byteCount);
    const piece = this.pieces[this.first] as Piece;
    if (this.sent < piece.length) return;
    piece.release();
    this.sent = 0;
    this.skipEmpty();
  }

  /** Joins small pieces to one, for a single write. */
  join(): void {
    const {pieces, first, bytes} = this;
    if (pieces.length - first < 2 || bytes > JOIN_BYTES) return;
    const joined = new Piece(Buffer.concat(pieces.map(piece => piece.bytes)));
    for (const piece of pieces) piece.release();
    this.pieces = [joined];
    this.first = 0;
  }

  clear(): void {
    this.unsent.remove(this.bytes);
    this.bytes = 0;
    for (const piece of this.pieces) piece.release();
    this.pieces = NONE;
    this.first = 0;
  }

  /** Passes pieces that have no bytes, or none any more. */
  private skipEmpty(): void {
    for (let piece = this.pieces[this.first]; piece?.length === 0; piece = this.pieces[++this.first])
      piece.release();
  }
}
