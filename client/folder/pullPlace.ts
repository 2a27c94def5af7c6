/** Where a pull is: what its folder keeps with the finished parts. */

import type {HashSuite} from "../hash/hashSuites.ts";
import type {ProofClient} from "../methods/proofClient.ts";
import type {FolderWriter} from "./folderWriter.ts";
import type {AccountTree} from "./manifest.ts";

export interface PullPlace {
  /** Of pullProofs: after the last entry that is written. */
  readonly entries?: string;
  /** Of pullChanges: after the last answer that is written. */
  readonly changes?: string;
  /** Of the trees that were named, those that are written. */
  readonly trees: number;
  /** Of pullState: the range that comes next begins here. */
  readonly cursor?: string;
  /** Of the tree that is being written: its last leaf with a row, and its rows. A range may be written in part. */
  readonly lastLeaf: number;
  readonly leaves: number;
  /** As soon as it is whole. */
  readonly accountTree?: AccountTree;
}

export const PULL_START: PullPlace = {trees: 0, lastLeaf: -1, leaves: 0};

/** How much of a phase is done. */
export interface PhaseProgress {
  readonly done: number;
  readonly total: number;
  /** What is counted, in the plural: "leaves", "keys". */
  readonly unit: string;
}

export interface PullProgress {
  /**
   * @param phase - what is pulled now
   * @param progress - of the phase; undefined: its total is not known
   * @param rows - since the last call
   */
  show(phase: string, progress: PhaseProgress | undefined, rows: number): void;
}

/** What every part of a pull works with. */
export interface PullWork {
  readonly client: ProofClient;
  readonly suite: HashSuite;
  readonly block: bigint;
  readonly writer: FolderWriter<PullPlace>;
  readonly progress: PullProgress;
  readonly signal: AbortSignal;
  /** Default: that of pullState. */
  readonly leavesPerRange: number | undefined;
  /** Always that of the last row that was added. */
  place: PullPlace;
}
