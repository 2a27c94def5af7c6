/** Puts the parts of a block together. */
import {mostPackedBytes} from "../../../nodes/feed/blockChanges.ts";
import {FeedError} from "../../../nodes/feed/feedError.ts";
import type {BlockHead} from "../../../nodes/feed/feedMessage.ts";

export class BlockAssembly {
  private first: BlockHead | undefined;
  private pieces: Buffer[] = [];
  private bytes = 0;

  /**
   * Takes the next part. Part 0 begins a block; parts before the first part 0 are skipped.
   *
   * @returns the block's changes, compressed, with its last part
   * @throws FeedError if a part is missing, or the parts are too long
   */
  take(part: BlockHead, piece: Buffer): Buffer | undefined {
    if (part.part === 0) {
      this.drop();
      this.first = part;
    }
    const {first} = this;
    if (first === undefined) return undefined;
    const isNext = part.part === this.pieces.length && part.parts === first.parts;
    if (!isNext || Buffer.compare(part.hash, first.hash) !== 0)
      throw new FeedError(
        `block ${first.number}: expected part ${this.pieces.length} of ${first.parts}, got part ${part.part} of ${part.parts} of block ${part.number}`,
      );
    this.bytes += piece.length;
    const most = mostPackedBytes(first.number, first.unpackedBytes);
    if (this.bytes > most || piece.length === 0)
      throw new FeedError(
        `block ${first.number}: expected parts of 1 byte or more, of ${most} bytes at most in all, got ${this.bytes}`,
      );
    // A view would keep the message's memory.
    this.pieces.push(part.parts === 1 ? piece : Buffer.from(piece));
    if (this.pieces.length < part.parts) return undefined;
    const packed = part.parts === 1 ? piece : Buffer.concat(this.pieces);
    this.drop();
    return packed;
  }

  drop(): void {
    this.first = undefined;
    this.pieces = [];
    this.bytes = 0;
  }
}
