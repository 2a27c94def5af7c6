/** The steps of a source. The import completes a step before it asks for the next one. */
import type {BlockDifference, FirstBlock} from "../../storage/block/blockDifference.ts";
import type {FinalityStep} from "../../storage/commit/finalityStep.ts";

export type SourceStep =
  | SourceBlock
  /** The blocks above `to` are on another branch. */
  | {readonly kind: "rollback"; readonly to: number}
  | FinalizedStep;

/** Enough to see whether a block is already stored, and the block itself. */
export interface SourceBlock {
  readonly kind: "block";
  readonly number: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** 32 bytes, of a source that follows the store: if a command has removed that block, this one is skipped. */
  readonly parentHash?: Uint8Array | undefined;
  /** Of a source that has lines, from 1. */
  readonly line?: number;
  /** The source says that blocks up to this number are finalized. */
  readonly finalized?: number | undefined;
  readonly chainId?: bigint | undefined;
  /** The block begins an empty store of slices. */
  readonly first?: FirstBlock | undefined;
  /** What gives the changes, for messages. */
  readonly origin: string;
  /** The difference comes from executing the block, which compared the state root with the header's. */
  readonly isExecuted?: boolean;
  /** Why no trusted root commits to the state after the block, if the source knows. */
  readonly unverified?: string | undefined;
  /** Computes the changes, by executing the block if needed. Called at most once, in block order. */
  difference(): Promise<BlockDifference>;
  /** Reads the block from every other node that answers. @throws Stopped */
  readonly readElsewhere?: (() => Promise<readonly BlockDifference[]>) | undefined;
  /** Reads a block again, in more detail, whose changes did not give its state root. @throws Stopped */
  readonly reread?: (() => Promise<BlockDifference | undefined>) | undefined;
}

/** The blocks up to `block`, which is stored and must have this hash, are finalized. */
interface FinalizedStep {
  readonly kind: "finalized";
  readonly block: number;
  readonly hash: Uint8Array;
  /** Finalizations on layer 1, recorded first. */
  readonly layer1: FinalityStep | undefined;
}

/** Block 0 of a genesis file, whose trie is built with it. */
export const GENESIS_ORIGIN = {kind: "block", origin: "the genesis file", isExecuted: true} as const;

/** A source was asked to stop before its next block was complete. */
export class Stopped extends Error {
  constructor() {
    super("stopped");
    this.name = "Stopped";
  }
}

/** The source is at fault. The message says where. */
export class SourceError extends Error {
  override readonly name = "SourceError";
}

/** The operator's settings are at fault, so another attempt fails too. */
export class SettingsFault extends SourceError {}

/** A feed does not continue from the newest stored block. */
export class SnapshotNeeded extends SourceError {}

/** Only damage leaves a gap in the store. */
export function throwMissing(block: number): never {
  throw new SourceError(`block ${block} is not in the store, although later blocks are`);
}
