/** A block, or one of its transactions, is not as its header or the rules of its fork say. */
export class BlockMismatch extends Error {
  override readonly name = "BlockMismatch";
}
