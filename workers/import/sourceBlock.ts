/**
 * What every source of blocks gives: enough to see whether a block is in the store already, and the block itself.
 */
import type {BlockDifference} from "../../storage/block/blockDifference.ts";

export interface SourceBlock {
  readonly number: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** The source says that blocks up to this number are finalized. */
  readonly finalized?: number | undefined;
  readonly chainId?: bigint | undefined;
  /** What gives the changes, for messages. */
  readonly origin: string;
  /** The difference comes from executing the block, which compared the state root with the header's. */
  readonly isExecuted?: boolean;
  /** Why nothing vouches for the state after the block, where the source knows that. */
  readonly unverified?: string | undefined;
  /** True once an order has removed the block before this one. Then this one is skipped: the source gives what follows instead. */
  readonly isOutdated?: () => boolean;
  /** Makes the difference. Executes the block if that is needed. Called at most once, in the order of the blocks. */
  difference(): Promise<BlockDifference>;
  /**
   * Reads the block again, and more of it, once its difference did not give the root of its header.
   *
   * @returns undefined if no node gives it in time. @throws Stopped
   */
  readonly reread?: () => Promise<BlockDifference | undefined>;
}

/** Of block 0 as a genesis file gives it: its trie is made with it. */
export const GENESIS_ORIGIN = {origin: "the genesis file", isExecuted: true} as const;

/** A source was asked to stop before its next block was complete. */
export class Stopped extends Error {
  constructor() {
    super("stopped");
    this.name = "Stopped";
  }
}

/** A source is at fault: the message says where and what. */
export class SourceError extends Error {
  override readonly name = "SourceError";
}

/** What the operator gave is at fault, so another attempt fails too. */
export class SettingsFault extends SourceError {}

/** The store has a gap, which only damage can make. */
export function neverHeld(block: number): never {
  throw new SourceError(`block ${block} is not held, although blocks after it are`);
}
