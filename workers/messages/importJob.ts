/** An import: its job, the commands that it takes, what it reports, how it ends. */
import type {MessagePort} from "node:worker_threads";
import type {FinalityStep} from "../../storage/commit/finalityStep.ts";
import type {ProvenSlots} from "../../storage/commit/provenSlots.ts";
import type {StoreErrorCode} from "../../storage/errors.ts";
import type {PruneStep} from "../../storage/prune/pruneWriter.ts";
import type {Head} from "./head.ts";
import type {ImportSource, SourceEvent} from "./importSource.ts";

export interface ImportJob {
  readonly source: ImportSource;
  /** Blocks up to this number are marked finalized when they are imported; "last": every block of the source. */
  readonly finalized?: number | "last" | undefined;
  /** Also takes blocks to whose state no trusted root commits. */
  readonly allowUnverified: boolean;
  /** Refuses a source of another chain. Names the chain if block 0's line does not. */
  readonly chainId?: bigint | undefined;
  /** 32 bytes: the hash of the block at which the source must end. Nothing is finalized before it has come. */
  readonly head?: Uint8Array | undefined;
  /** What each block changed is kept with it, for a feed (storage/block/keptChanges.ts). */
  readonly keepsChanges?: boolean;
  /** The cells of the main thread's RollbackSignal. */
  readonly rollbackSignal?: SharedArrayBuffer;
  /** Of the main thread's ThreadPulse. */
  readonly pulse?: SharedArrayBuffer;
  /** ImportMessages go out on it; ImportOrders come in. */
  readonly port: MessagePort;
}

/** "stop" asks the import to end after the current block. A ChainCommand is sent after the answer to the one before. */
export type ImportCommand = "stop" | ChainCommand;

/** Work between two blocks. `finalize`: up to this block, whose hash must be `hash`. `rollback`: to this block. */
export type ChainCommand =
  | {readonly finalize: number; readonly hash?: Uint8Array}
  | {readonly finality: FinalityStep}
  | {readonly rollback: number}
  | {readonly prune: PruneStep}
  | {readonly slots: readonly ProvenSlots[]};

/** Comes after the event with the command's new head. An import that ends answers no more commands. */
export interface CommandAnswer {
  /** undefined: the command is done and on disk. */
  readonly refusal: {readonly code: StoreErrorCode; readonly message: string} | undefined;
}

/** The messages of an import: an ImportEvent has a `head`, a SourceEvent a `kind`, a CommandAnswer a `refusal`. */
export type ImportMessage = ImportEvent | SourceEvent | CommandAnswer;

/** Blocks up to `head.latest` are on disk, synced. Counts are since the import began. */
export interface ImportEvent {
  readonly head: Head;
  /** Rollbacks begun before `head` was read (rollbackSignal.ts). */
  readonly rollbacks: number;
  readonly blocks: number;
  readonly accounts: number;
  readonly bytesRead: number;
  /** undefined: not known (standard input, a node). */
  readonly bytesTotal: number | undefined;
  /** Time in which the thread worked, and did not wait for a node or the disk. */
  readonly busyMs: number;
  /** The block that the source is on the way to; undefined: not known (files). */
  readonly target: number | undefined;
}

export type ImportOutcome =
  | {
      readonly ok: true;
      readonly head: Head;
      readonly blocks: number;
      readonly alreadyStored: number;
      readonly stopped: boolean;
    }
  | {
      readonly ok: false;
      readonly head: Head;
      readonly blocks: number;
      /** Names the line or block, and the reason. */
      readonly message: string;
      /** A write was refused. LevelDB's log may end within a record, so the store has to be reopened. */
      readonly writeFailed: boolean;
      /** What the operator gave is at fault: another attempt fails too. */
      readonly isFinal: boolean;
      /** The feed does not continue the store: a snapshot can replace it. */
      readonly needsSnapshot?: boolean;
    };
