/** The place of a pull, which its journal stores with the finished parts. */
import type {HashSuite} from "../hash/hashSuites.ts";
import type {ProofClient} from "../methods/proofClient.ts";
import type {FolderWriter} from "./folderWriter.ts";
import type {AccountTree} from "./manifest.ts";

export interface PullPlace {
  /** Of pullProofs: after the last entry that is written. */
  readonly entries?: string;
  /** Of pullChanges: after the last answer that is written. */
  readonly changes?: string;
  /** How many of the requested trees are written. */
  readonly trees: number;
  /** Of pullState: where the next range begins. */
  readonly cursor?: string;
  /** Of the tree that is being written: its last leaf with a row, and its rows. A range may be written in part. */
  readonly lastLeaf: number;
  readonly leaves: number;
  /** Once it is complete. */
  readonly accountTree?: AccountTree;
}

export const PULL_START: PullPlace = {trees: 0, lastLeaf: -1, leaves: 0};

export interface PhaseProgress {
  readonly done: number;
  readonly total: number;
  /** What is counted, in the plural: "leaves", "keys". */
  readonly unit: string;
}

export interface PullProgress {
  /** @param progress - of the phase; undefined: its total is not known. @param rows - since the last call */
  show(phase: string, progress: PhaseProgress | undefined, rows: number): void;
}

export interface PullWork {
  readonly client: ProofClient;
  readonly suite: HashSuite;
  readonly block: bigint;
  readonly writer: FolderWriter<PullPlace>;
  readonly progress: PullProgress;
  readonly signal: AbortSignal;
  readonly leavesPerRange: number | undefined;
  /** After the last row that was added. */
  place: PullPlace;
}
