/** The steps that a source gives. The import completes a step before it asks for the next one. */
import type {BlockDifference} from "../../storage/block/blockDifference.ts";
import type {FinalityStep} from "../../storage/commit/finalityStep.ts";

export type SourceStep = SourceBlock | RollbackStep | FinalizedStep;

/** Enough to see whether a block is in the store already, and the block itself. */
export interface SourceBlock {
  readonly kind: "block";
  readonly number: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /**
   * 32 bytes, of a source that goes on where the store stands. If a command has removed the parent meanwhile, the block is
   * skipped, and the source continues after the newest block.
   */
  readonly parentHash?: Uint8Array | undefined;
  /** Of a source that has lines, from 1. */
  readonly line?: number;
  /** The source says that blocks up to this number are finalized. */
  readonly finalized?: number | undefined;
  readonly chainId?: bigint | undefined;
  /** What gives the changes, for messages. */
  readonly origin: string;
  /** The difference comes from executing the block, which compared the state root with the header's. */
  readonly isExecuted?: boolean;
  /** Why no trusted root commits to the state after the block, if the source knows that. */
  readonly unverified?: string | undefined;
  /** Makes the difference. Executes the block if that is needed. Called at most once, in the order of the blocks. */
  difference(): Promise<BlockDifference>;
  /**
   * Reads the block from the other nodes that there are and answer.
   *
   * @returns what each of them gives. @throws Stopped
   */
  readonly readElsewhere?: (() => Promise<readonly BlockDifference[]>) | undefined;
  /**
   * Reads the block again, and more of it, once its difference did not give the root of its header.
   *
   * @returns undefined if no node gives it in time. @throws Stopped
   */
  readonly reread?: (() => Promise<BlockDifference | undefined>) | undefined;
}

/** The blocks above `to` are of another branch. */
interface RollbackStep {
  readonly kind: "rollback";
  readonly to: number;
}

/** The blocks up to `block`, which is held and whose hash must be `hash`, are finalized. */
interface FinalizedStep {
  readonly kind: "finalized";
  readonly block: number;
  readonly hash: Uint8Array;
  /** What layer 1 finalized, to be recorded before. */
  readonly layer1: FinalityStep | undefined;
}

/** Of block 0 as a genesis file gives it: its trie is made with it. */
export const GENESIS_ORIGIN = {kind: "block", origin: "the genesis file", isExecuted: true} as const;

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

/** A feed does not go on with what is held. */
export class SnapshotNeeded extends SourceError {}

/** Only damage leaves a gap in the store. */
export function throwMissing(block: number): never {
  throw new SourceError(`block ${block} is not in the store, although later blocks are`);
}
