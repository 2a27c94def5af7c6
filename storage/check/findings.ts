/**
 * What a check looks at, counts and finds.
 */
import type {StateReader} from "../block/stateReader.ts";
import {StoreError} from "../errors.ts";
import type {Account} from "../tree/account.ts";
import type {TreeRoot} from "../tree/treeRoot.ts";

export interface Findings {
  blocks: number;
  pages: number;
  leaves: number;
  findings: number;
  /** @param where - the block, tree, page or leaf. @param what - what is wrong there */
  report(where: string, what: string): void;
  /** Called from time to time. @param of - what is being checked. @returns false to end the check here */
  pause(of: string): Promise<boolean>;
}

/** Which tree is checked, and how much of it. */
export interface TreeCheck {
  readonly store: StateReader;
  readonly findings: Findings;
  readonly tree: TreeRoot;
  /** For messages: `block 7, account tree`. */
  readonly where: string;
  /** Pages with lower numbers were checked with an earlier block. Of those, only the roots are compared. */
  readonly sincePage: number;
  /** The first page number above those of the block. */
  readonly untilPage: number;
  /**
   * new: pages from `sincePage` on; all: also the linked list and its order in the index, which cannot be checked page by page;
   * leaf: the path of one random leaf, and looking up its key.
   */
  readonly extent: "new" | "all" | "leaf";
  /** The leaves hold accounts. undefined: they hold slots. */
  readonly onAccount?: (account: Account, where: string) => Promise<void>;
}

/** Turns damage into the text of a finding. Throws every other error on. */
export function toFinding(error: unknown): string {
  if (error instanceof StoreError) return `${error.code}: ${error.message}`;
  // The page's checksum is right, but its offsets lie beyond its end.
  if (error instanceof RangeError) return `RECORD_DAMAGED: ${error.message}`;
  throw error;
}
