/**
 * The block that a proof is of, as chain_getProofAt names it (and chain_getStateRoot, server/methods/ready/getStateRoot.ts):
 *
 *   {"number":"0x..","hash":"0x..","stateRoot":"0x..","finalized":true}
 *
 * Kept for the block asked for last: the calls of a batch mostly name one block.
 */
import type {StateReader} from "../../storage/block/stateReader.ts";

export class BlockText {
  private readonly store: StateReader;
  private block = -1;
  private text = "";

  constructor(store: StateReader) {
    this.store = store;
  }

  /**
   * @param block - finalized, as every block that is proved, so its text never changes
   * @throws StoreError BLOCK_UNKNOWN, RECORD_DAMAGED
   */
  of(block: number): string {
    if (block !== this.block) {
      const {header, stateRoot} = this.store.blockOrThrow(block);
      const [hash, root] = [header.hash, stateRoot].map(bytes => Buffer.from(bytes).toString("hex"));
      this.text = `{"number":"0x${block.toString(16)}","hash":"0x${hash}","stateRoot":"0x${root}","finalized":true}`;
      this.block = block;
    }
    return this.text;
  }
}
