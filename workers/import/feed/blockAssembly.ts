/** Puts the parts of a block together. */
import {FeedError} from "../../../nodes/feed/feedError.ts";
import {type BlockPart, unpackDifference} from "../../../nodes/feed/feedMessage.ts";

export class BlockAssembly {
  private first: BlockPart | undefined;
  private pieces: Buffer[] = [];

  /**
   * Takes the next part of the stream. Part 0 begins anew; parts before the first part 0 are passed over.
   *
   * @returns the block's changes, unpacked, with its last part
   * @throws FeedError if a part is missing, or the changes do not unpack
   */
  take(part: BlockPart): Buffer | undefined {
    if (part.part === 0) {
      this.first = part;
      this.pieces = [];
    }
    const {first} = this;
    if (first === undefined) return undefined;
    const isNext = part.part === this.pieces.length && part.parts === first.parts;
    if (!isNext || Buffer.compare(part.hash, first.hash) !== 0)
      throw new FeedError(
        `block ${first.number}: expected part ${this.pieces.length} of ${first.parts}, got part ${part.part} of ${part.parts} of block ${part.number}`,
      );
    // The message's memory holds more than the piece.
    this.pieces.push(part.parts === 1 ? part.piece : Buffer.from(part.piece));
    if (this.pieces.length < part.parts) return undefined;
    const packed = part.parts === 1 ? part.piece : Buffer.concat(this.pieces);
    this.drop();
    return unpackDifference(part, packed);
  }

  drop(): void {
    this.first = undefined;
    this.pieces = [];
  }
}
