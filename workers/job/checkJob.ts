/** A check of a store: its job, what it says, how it ends. */
import type {StoreErrorCode} from "../../storage/errors.ts";

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
