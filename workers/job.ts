/**
 * What crosses between the main thread and the workers: jobs, answers, failures.
 *
 * Expected failures are values, because structured clone drops error classes and fields.
 */
import type {MessagePort} from "node:worker_threads";
import type {StoreErrorCode} from "../storage/errors.ts";

/** Which blocks can be proved. `finalized` is the newest finalized block held; all null while the store is empty. */
export interface Head {
  readonly earliest: number | null;
  readonly finalized: number | null;
  readonly latest: number | null;
}

/** A failure that the server maps to a JSON-RPC code; `detail` is for the log or, where it is safe, the message. */
export type Failure =
  | {readonly failure: "DAMAGED" | "BLOCK_UNKNOWN" | "INTERNAL"; readonly detail: string}
  | EstimateFailure;

/** What only a gas estimate can fail by; every `detail` is safe for the caller. */
export type EstimateFailure =
  /** `data`: what the contract reverted with, 0x hex. */
  | {readonly failure: "REVERTED"; readonly detail: string; readonly data: string}
  /** Out of gas at the upper bound, an invalid opcode, too little balance, ... */
  | {readonly failure: "EXECUTION_FAILED"; readonly detail: string}
  /** A parameter that only the block's hard fork or state shows to be wrong. */
  | {readonly failure: "CALL_INVALID"; readonly detail: string}
  /** The store does not say what it takes to execute. */
  | {readonly failure: "NOT_AVAILABLE"; readonly detail: string}
  | {
      readonly failure: "LIMIT_EXCEEDED";
      readonly detail: string;
      readonly limit: number;
      readonly got: number;
    }
  /** Routed estimates only: the gateway did not answer. */
  | {readonly failure: "UPSTREAM_DOWN"; readonly detail: string};

/**
 * Calls of chain_getProof and chain_getProofAt, packed back to back so that one buffer crosses instead of objects:
 *
 *   block u48 | address 20 | key count u16 | form u8 | keys, 32 bytes each
 *
 * `ids` are the JSON texts of the calls' ids, one per call.
 */
export interface ProveJob {
  readonly calls: Uint8Array;
  readonly ids: readonly string[];
  /**
   * To write the answer into; transferred with the job, and back with its Answers. Lost where the job fails. Left out: the
   * answer comes in memory of its own size.
   */
  readonly memory?: ArrayBuffer;
}

/** Bytes of a packed call before its keys. */
export const CALL_HEAD_BYTES = 6 + 20 + 2 + 1;

/** Where the form stands in a packed call. */
export const FORM_AT = 28;

/** What a call's result is: the proof alone (chain_getProof), or the proof and its block (chain_getProofAt). */
export const ProofForm = {PLAIN: 0, WITH_BLOCK: 1} as const;

export type ProofForm = (typeof ProofForm)[keyof typeof ProofForm];

/**
 * Finished answers: for each call its whole JSON-RPC response object followed by one comma.
 *
 *   answer k = text[ends[k-1] .. ends[k] - 1), its comma at ends[k] - 1
 *
 * A call that failed has an empty range and an entry in `failures`.
 */
export interface Answers {
  /** May be the front of larger memory: the job's. */
  readonly text: Uint8Array;
  /** The job's memory where `text` is not in it. */
  readonly unused?: ArrayBuffer;
  readonly ends: Uint32Array;
  readonly failures: readonly (Failure & {readonly call: number})[];
}

/** Legacy, EIP-2930, EIP-1559, EIP-7702. */
export type TransactionType = 0 | 1 | 2 | 4;

/**
 * A call of chain_estimateGas, checked as far as it can be without the block. Fields left out are undefined.
 *
 * What there can be thousands of is packed back to back: handing over an array of its own takes structured clone a third of
 * a microsecond.
 */
export interface EstimateCall {
  readonly block: number;
  /** 20 bytes. */
  readonly from?: Uint8Array;
  /** 20 bytes; undefined: a creation. */
  readonly to?: Uint8Array;
  /** At most the gas cap. */
  readonly gas?: bigint;
  /** Wei; never together with one of the next two. */
  readonly gasPrice?: bigint;
  readonly maxFeePerGas?: bigint;
  readonly maxPriorityFeePerGas?: bigint;
  /** Wei, below 2^256. */
  readonly value: bigint;
  readonly data: Uint8Array;
  /** Below 2^64 - 1. */
  readonly nonce?: bigint;
  /** What was asked for, or what the fields make it; undefined: the newest that the block's fork has. */
  readonly type?: TransactionType;
  readonly accessList?: readonly AccessListEntry[];
  /** Type 4 only, at least one. */
  readonly authorizationList?: readonly Authorization[];
  readonly overrides?: readonly AccountOverride[];
}

export interface AccessListEntry {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** 32 bytes each. */
  readonly storageKeys: Uint8Array;
}

/** EIP-7702, signed. */
export interface Authorization {
  readonly chainId: bigint;
  /** 20 bytes. */
  readonly address: Uint8Array;
  readonly nonce: bigint;
  readonly yParity: bigint;
  readonly r: bigint;
  readonly s: bigint;
}

/** What the state is taken to be instead, for one call. */
export interface AccountOverride {
  /** 20 bytes. */
  readonly address: Uint8Array;
  readonly balance?: bigint;
  readonly nonce?: bigint;
  readonly code?: Uint8Array;
  /** 64 bytes each: the slot, and its value. */
  readonly slots?: Uint8Array;
  /** All other slots are zero (`state`), or keep their value (`stateDiff`). */
  readonly replacesStorage?: boolean;
}

export interface EstimateJob {
  readonly calls: readonly EstimateCall[];
  /** JSON texts of the calls' ids, one per call. */
  readonly ids: readonly string[];
  /** Each call gets so much time now (estimate/slices.ts); left out: all that the settings allow. */
  readonly slice?: EstimateSlice;
}

export type EstimateSlice = "first" | "second";

/** The calls named here have an empty range and no entry in `failures`. */
export interface EstimateAnswers extends Answers {
  /** Calls whose slice was over before they were. */
  readonly unfinished: readonly number[];
  /** The first so many calls were begun; the others may be asked for again as if they had never come. */
  readonly begun: number;
}

/** Forks that a store without a genesis config can be told to execute under; each includes those before it. */
export const HARDFORKS: readonly string[] = [
  "homestead",
  "tangerineWhistle",
  "spuriousDragon",
  "byzantium",
  "petersburg",
  "istanbul",
  "berlin",
  "london",
  "paris",
  "shanghai",
  "cancun",
  "prague",
  "osaka",
];

/** How estimates are made: the flags of `proofd serve`, the same for every call. */
export interface EstimateSettings {
  /** Gas; the upper bound of every search. */
  readonly gasCap: number;
  /** Execution of one call, all its runs together. */
  readonly timeMs: number;
  /** The search ends when (high - low) / high is below it; 0 = exact. */
  readonly gasTolerance: number;
  /** Executes every block under this hard fork, one of HARDFORKS, whatever the genesis config says; undefined: by the config. */
  readonly hardfork?: string;
  readonly fee: FeeSettings;
}

/** spec/fees.md. Decimal text where a fraction may be given, so that the arithmetic is exact. */
export interface FeeSettings {
  readonly model: "verification" | "extra-data";
  /** Decimal, e.g. "1.2". */
  readonly minMargin: string;
  /** Gas of layer 1. */
  readonly verificationGasCost: bigint;
  readonly verificationCapacity: bigint;
  /** Decimal. */
  readonly gasPriceRatio: string;
  /** Wei. */
  readonly gasPriceAdjustment: bigint;
  /** Wei. */
  readonly minGasPrice: bigint;
  /** Wei; for blocks whose extraData says nothing (model extra-data). */
  readonly fixedCost: bigint;
  readonly variableCost: bigint;
}

/** What holds where no flag says otherwise (spec/json-rpc.md, "Limits"; spec/fees.md). */
export const DEFAULT_ESTIMATE_SETTINGS: EstimateSettings = {
  gasCap: 50_000_000,
  timeMs: 2000,
  gasTolerance: 0.015,
  fee: {
    model: "verification",
    minMargin: "1.0",
    verificationGasCost: 1_200_000n,
    verificationCapacity: 90_000n,
    gasPriceRatio: "15",
    gasPriceAdjustment: 0n,
    minGasPrice: 10_000_000n,
    fixedCost: 30_000_000n,
    variableCost: 10_000_000n,
  },
};

/** Where an import reads from. Paths may be .gz; `-` is standard input (diffs only). */
export type ImportSource =
  | {readonly kind: "blocks"; readonly genesisPath: string; readonly blocksPath: string}
  | {
      readonly kind: "diffs";
      readonly path: string;
      /** Wait for more lines at the end of a regular file, and for the next writer of a FIFO. */
      readonly follow: boolean;
    };

/**
 * Where a source that is followed stands.
 *
 *   reading     on the way to its end
 *   following   read to its end, lines are taken as they come
 *   waiting     there is no file, or no writer of the FIFO
 */
export type SourceState = "reading" | "following" | "waiting";

/**
 * What happened to a source that is followed.
 *
 *   replaced      another file stands at its path: the old one was read to its end, the new one is read from its start
 *   truncated     the file became shorter: it is read again from its start
 *   writer_left   a FIFO's last writer has closed it: the next one is waited for
 *   line_cut      a file or a FIFO's writer ended within a line, which is dropped
 */
export type SourceChange = "replaced" | "truncated" | "writer_left" | "line_cut";

/** Of a source that is followed. */
export type SourceEvent =
  | {readonly kind: "state"; readonly state: SourceState}
  | {readonly kind: "change"; readonly change: SourceChange; readonly line?: number};

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
export type ImportOrder = "stop" | FinalizeOrder;

/** Blocks up to `finalize` are to be marked finalized, between two blocks. */
export interface FinalizeOrder {
  readonly order: number;
  readonly finalize: number;
}

/** Comes after the event with the head that it made. An import that ends answers no more orders. */
export interface FinalizeAnswer {
  readonly order: number;
  /** null: it is done and on disk. */
  readonly refusal: {readonly code: StoreErrorCode; readonly message: string} | null;
}

/** What an import says: an ImportEvent has a `head`, a SourceEvent a `kind`, a FinalizeAnswer an `order`. */
export type ImportMessage = ImportEvent | SourceEvent | FinalizeAnswer;

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

/** A check reads the files itself and changes nothing: LevelDB is not opened, and may be open in whatever process. */
export interface CheckJob {
  readonly directory: string;
  /** "tables": only the checksums of LevelDB's tables. "records": those of all its files, and then what the records say. */
  readonly extent: "tables" | "records";
  /** Only this block's state, whole; without it every record and every block. */
  readonly block?: number;
  /** Only this many random leaves of the block; without a block, of the newest one held. */
  readonly sample?: number;
  /** Tables are read no faster; left out: as fast as it goes. */
  readonly bytesPerSecond?: number;
}

export type CheckEvent =
  /** `at`: what is being checked. `bytes`: of tables, so far. */
  | {readonly kind: "progress"; readonly at: string; readonly bytes: number; readonly pages: number}
  | {readonly kind: "begin"; readonly tables: number; readonly bytes: number}
  /** The newest block held, where the job names none. */
  | {readonly kind: "sampling"; readonly block: number}
  | {readonly kind: "finding"; readonly where: string; readonly what: string};

export interface CheckOutcome {
  /** Of tables, compared with their checksums. */
  readonly bytes: number;
  readonly blocks: number;
  readonly pages: number;
  readonly leaves: number;
  readonly findings: number;
  /** Some of LevelDB's files are damaged, so their records were not looked at. */
  readonly filesDamaged: boolean;
  /** What was being checked when it was told to stop; null: it went through. */
  readonly stoppedAt: string | null;
}

/** What a check's thread says: at last the outcome, or why there is none. */
export type CheckMessage =
  | CheckEvent
  | {readonly kind: "outcome"; readonly outcome: CheckOutcome}
  | {readonly kind: "refused"; readonly code: StoreErrorCode; readonly message: string};
