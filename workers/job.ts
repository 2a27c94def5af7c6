/**
 * What crosses between the main thread and the workers: jobs, answers, failures.
 *
 * Expected failures are values, because structured clone drops error classes and fields.
 */
import type {MessagePort} from "node:worker_threads";

/** Which blocks can be proved. `finalized` is the newest finalized block held; all null while the store is empty. */
export interface Head {
  readonly earliest: number | null;
  readonly finalized: number | null;
  readonly latest: number | null;
}

/** A failure that the server maps to a JSON-RPC code; `detail` is for the log or, where it is safe, the message. */
export interface Failure {
  readonly failure: "DAMAGED" | "BLOCK_UNKNOWN" | "INTERNAL";
  readonly detail: string;
}

/**
 * Calls of chain_getProof, packed back to back so that one buffer crosses instead of objects:
 *
 *   block u48 | address 20 | key count u16 | keys, 32 bytes each
 *
 * `ids` are the JSON texts of the calls' ids, one per call.
 */
export interface ProveJob {
  readonly calls: Uint8Array;
  readonly ids: readonly string[];
}

/** Bytes of a packed call before its keys. */
export const CALL_HEAD_BYTES = 6 + 20 + 2;

/**
 * Finished answers: for each call its whole JSON-RPC response object followed by one comma.
 *
 *   answer k = text[ends[k-1] .. ends[k] - 1), its comma at ends[k] - 1
 *
 * A call that failed has an empty range and an entry in `failures`.
 */
export interface ProveAnswers {
  readonly text: Uint8Array;
  readonly ends: Uint32Array;
  readonly failures: readonly (Failure & {readonly call: number})[];
}

/** Where an import reads from. Paths may be .gz; `-` is standard input (diffs only). */
export type ImportSource =
  | {readonly kind: "blocks"; readonly genesisPath: string; readonly blocksPath: string}
  | {
      readonly kind: "diffs";
      readonly path: string;
      /** Wait for more lines at the end of a regular file. */
      readonly follow: boolean;
    };

export interface ImportJob {
  readonly kind: "import";
  readonly source: ImportSource;
  /** Blocks up to this number are marked finalized as they are imported; "last": every block that the source reaches. */
  readonly finalized?: number | "last";
  /** Refuses a source of another chain; names the chain where block 0's line does not. */
  readonly chainId?: bigint;
  /** ImportEvents go out on it; the message "stop" in asks to end after the block at hand. */
  readonly port: MessagePort;
}

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
    };

export interface CheckJob {
  readonly kind: "check";
  /** Only this block's state, whole; without it every record and every block. */
  readonly block?: number;
  /** Only this many random leaves of the block. */
  readonly sample?: number;
  /** CheckEvents go out on it. */
  readonly port: MessagePort;
}

export type CheckEvent =
  | {readonly kind: "progress"; readonly done: number; readonly of: string}
  | {readonly kind: "finding"; readonly where: string; readonly what: string};

export interface CheckOutcome {
  readonly blocks: number;
  readonly pages: number;
  readonly leaves: number;
  readonly findings: number;
}
