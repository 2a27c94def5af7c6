/** The leaves of a tree, as ranges and changes show them. */
import type {Hex} from "../bytes/hex.ts";
import type {Leaf} from "../hash/hashSuites.ts";
import type {Account} from "../proof/account.ts";

/** Which tree: that of all accounts, or the storage tree of one account. */
export type TreeKind = "accounts" | "slots";

export interface AccountLeaf extends Leaf {
  readonly role: "account";
  /** `0x` and 40 lower-case digits. */
  readonly address: Hex;
  readonly account: Account;
}

export interface SlotLeaf extends Leaf {
  readonly role: "slot";
  readonly slot: bigint;
  /** Not zero. */
  readonly value: bigint;
}

export type KeyedLeaf = AccountLeaf | SlotLeaf;

/** The head (leaf index 0) or the tail (1). */
export interface EndLeaf extends Leaf {
  readonly role: "end";
}

/** A position whose leaf was deleted. It is never used again. */
export interface RemovedLeaf {
  readonly role: "removed";
  readonly leafIndex: number;
}

export type TreeLeaf = KeyedLeaf | EndLeaf | RemovedLeaf;
