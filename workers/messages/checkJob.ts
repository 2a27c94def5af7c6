/** A check of a store: its job, what it reports, how it ends. */
import type {StoreErrorCode} from "../../storage/errors.ts";

/** A check reads the files itself and changes nothing. It does not open LevelDB, which any process may have open. */
export interface CheckJob {
  readonly directory: string;
  /** "tables": the checksums of LevelDB's tables. "records": of all its files, and then the records. */
  readonly extent: "tables" | "records";
  /** Check only this block's state, but all of it. Default: every record and every block. */
  readonly block?: number | undefined;
  /** Check only this many random leaves of the block. Default for the block: the newest one. */
  readonly sample?: number | undefined;
  /** Upper bound for the reading of tables. Default: as fast as possible. */
  readonly bytesPerSecond?: number;
}

export type CheckEvent =
  /** `at`: what is being checked. `bytes`: bytes of tables read so far. */
  | {readonly kind: "progress"; readonly at: string; readonly bytes: number; readonly pages: number}
  | {readonly kind: "begin"; readonly tables: number; readonly bytes: number}
  /** The newest block, which is sampled if the job names none. */
  | {readonly kind: "sampling"; readonly block: number}
  | {readonly kind: "finding"; readonly where: string; readonly what: string};

export interface CheckOutcome {
  /** Bytes of tables that were compared with their checksums. */
  readonly bytes: number;
  readonly blocks: number;
  readonly pages: number;
  readonly leaves: number;
  readonly findings: number;
  /** Some of LevelDB's files are damaged, so their records were not looked at. */
  readonly filesDamaged: boolean;
  /** What was being checked when it was told to stop; undefined: it finished. */
  readonly stoppedAt: string | undefined;
}

/** What a check's thread gives back: the outcome, or why there is none. */
export type CheckEnd = CheckOutcome | {readonly refused: StoreErrorCode; readonly message: string};
