/**
 * Which tree is checked, and how much of it.
 */
import type {Account} from "../tree/account.ts";
import type {TreeRoot} from "../tree/treeRoot.ts";

/** What the leaves of a tree hold. */
export type TreeKind = "accounts" | "slots";

export interface TreeCheck {
  readonly tree: TreeRoot;
  readonly kind: TreeKind;
  /** For messages: `block 7, account tree`. */
  readonly where: string;
  /** Pages with lower numbers were checked with an earlier block. Of those, only the roots are compared. */
  readonly sincePage: number;
  /** The first page number above those of the block. */
  readonly untilPage: number;
  /** Also check the linked list and the index, which cannot be checked page by page. */
  readonly links: boolean;
  readonly onAccount?: (account: Account, where: string) => Promise<void>;
}
