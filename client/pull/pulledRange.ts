/** A verified part of a state, as a pull gives it. */
import type {AnsweredBlock} from "../leaves/blockBytes.ts";
import type {TreeLeaf} from "../leaves/treeLeaf.ts";
import type {ProvenAccount} from "../proof/proofVerifier.ts";

/** Leaves of one tree: every one from `from` to before `end`. */
export interface PulledRange {
  /** `stateRoot` is the trusted root. Nothing proves the hash. */
  readonly block: AnsweredBlock;
  /** "accounts", or the address of the account whose storage tree it is: `0x` and 40 lower-case digits. */
  readonly tree: string;
  /** Of a storage tree, its account; undefined if it is absent, and of the account tree. */
  readonly account: ProvenAccount | undefined;
  /** Positions of the tree in use. 2, of a storage tree: the account has no storage, and there are no leaves. */
  readonly nextFreeNode: number;
  readonly from: number;
  /** Where the next range begins. nextFreeNode: this one was the tree's last. */
  readonly end: number;
  /** In the order of leaf indexes, one per position. */
  readonly leaves: readonly TreeLeaf[];
  /** Goes on after this range. Keep it as it is: its form may change with the version. */
  readonly cursor: string;
}

/** A range whose place in the pull is not known yet. Its leaves may be read from their bytes each time, so take them once. */
export type TreeRange = Omit<PulledRange, "cursor">;
