import type {StateReader} from "../block/stateReader.ts";
import type {Account} from "../tree/account.ts";
import type {TreeRoot} from "../tree/treeRoot.ts";
import type {KeyCheck} from "./checkKeys.ts";
import type {Findings} from "./findings.ts";

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
  /** Of the leaves' keys: 0 for the account tree, else the index of the account's leaf. */
  readonly owner: number;
  readonly keys: KeyCheck;
  /** The leaves hold accounts. undefined: they hold slots. */
  readonly onAccount?: (account: Account, leafIndex: number, where: string) => Promise<void>;
}
