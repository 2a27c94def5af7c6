/**
 * What every source of blocks gives: enough to see whether a block is held already, and the block itself.
 */
import type {BlockDifference} from "../../storage/block/blockDifference.ts";

export interface SourceBlock {
  readonly number: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** Blocks up to this number are finalized, says the source. */
  readonly finalized?: number;
  /** Which chain the source says it is; undefined where it does not. */
  readonly chainId?: bigint;
  /** Makes the difference: executes the block, where that is what it takes. Called at most once, in the order of the blocks. */
  difference(): Promise<BlockDifference>;
}

/** A source was asked to stop before its next block was whole. */
export class Stopped extends Error {
  constructor() {
    super("stopped");
    this.name = "Stopped";
  }
}

/** A source is at fault: the message says where and what. */
export class SourceError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SourceError";
  }
}
