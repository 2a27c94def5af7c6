/** An import: its job, the orders that it takes, what it says, how it ends. */
import type {MessagePort} from "node:worker_threads";
import type {StoreErrorCode} from "../../storage/errors.ts";
import type {Head} from "./head.ts";
import type {ImportSource, SourceEvent} from "./importSource.ts";

export interface ImportJob {
  readonly source: ImportSource;
  /** Blocks up to this number are marked finalized as they are imported; "last": every block that the source reaches. */
  readonly finalized?: number | "last";
  /** Refuses a source of another chain; names the chain where block 0's line does not. */
  readonly chainId?: bigint;
  /**
   * 32 bytes: the hash of the block at which the source must end. Another last block is refused, and nothing is marked
   * finalized before the source has shown this one.
   */
  readonly head?: Uint8Array;
  /** ImportMessages go out on it; ImportOrders come in. */
  readonly port: MessagePort;
}

/** "stop" asks to end after the block at hand. */
export type ImportOrder = "stop" | NumberedOrder;

/** What is to be done between two blocks: mark the blocks up to `finalize` as finalized, or remove those above `rollback`. */
export type ChainOrder = {readonly finalize: number} | {readonly rollback: number};

export type NumberedOrder = ChainOrder & {readonly order: number};

/** Comes after the event with the head that the order made. An import that ends answers no more orders. */
export interface OrderAnswer {
  readonly order: number;
  /** null: it is done and on disk. */
  readonly refusal: {readonly code: StoreErrorCode; readonly message: string} | null;
}

/** What an import says: an ImportEvent has a `head`, a SourceEvent a `kind`, an OrderAnswer an `order`. */
export type ImportMessage = ImportEvent | SourceEvent | OrderAnswer;

/** Blocks up to `head.latest` are on disk, synced. Counts are since the import began. */
export interface ImportEvent {
  readonly head: Head;
  readonly blocks: number;
  readonly accounts: number;
  readonly slots: number;
  readonly bytesRead: number;
  /** null: not known (standard input). */
  readonly bytesTotal: number | null;
}

export type ImportOutcome =
  | {
      readonly ok: true;
      readonly head: Head;
      /** Blocks imported, on disk. */
      readonly blocks: number;
      readonly alreadyHeld: number;
      /** Ended by "stop". */
      readonly stopped: boolean;
    }
  | {
      readonly ok: false;
      readonly head: Head;
      readonly blocks: number;
      /** Names the line or block, and the reason. */
      readonly message: string;
      /** A write was refused: LevelDB's log may end within a record, and takes no more until the store is opened again. */
      readonly writeFailed: boolean;
    };
