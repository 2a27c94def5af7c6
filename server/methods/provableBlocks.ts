/** Which blocks can be proved, for those who ask before a method does. */
import type {ChainView} from "../../workers/chain/chainView.ts";
import {MAX_BLOCKS_AHEAD} from "./selector.ts";

export class ProvableBlocks {
  constructor(private readonly chain: ChainView) {}

  get latest(): number | undefined {
    return this.chain.head().latest;
  }

  /** @returns 32 bytes; undefined for a block that cannot be proved, or whose record is damaged: the method says why */
  findRoot(block: number): Uint8Array | undefined {
    if (block > (this.chain.head().finalized ?? -1)) return undefined;
    const found = this.chain.readBlock(block);
    return "failure" in found ? undefined : found.stateRoot;
  }

  /** Whether the block cannot be proved yet, but may be soon, or by another service that follows this chain. */
  isAhead(block: number): boolean {
    const {latest = -1, finalized = -1} = this.chain.head();
    return block > finalized && block <= latest + MAX_BLOCKS_AHEAD;
  }
}
