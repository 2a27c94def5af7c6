/**
 * What one block does to one account, field by field. All bytes are big-endian, as on the wire.
 */

export interface AccountDifference {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** undefined: the account is deleted. */
  readonly change: AccountChange | undefined;
  /** What the source says of the account before the block. The block is refused if the store has something else. */
  readonly before?: AccountBefore | undefined;
  /** The block only read: `before` and that of the slots are compared, and nothing is written. Not with a deletion. */
  readonly onlyRead?: boolean | undefined;
}

/** A field that is not given keeps its old value. A new account starts with nonce 0, balance 0 and no code. */
export interface AccountChange {
  /** The account was destroyed and created again in this block: it and its storage are dropped before the change. */
  readonly reset?: boolean | undefined;
  /** With `reset`: the account created again has the code of the one that was destroyed. Not with `code`. */
  readonly keepsCode?: boolean | undefined;
  /** 0 <= nonce < 2^64. */
  readonly nonce?: bigint | undefined;
  /** 0 <= balance < 2^256, wei. */
  readonly balance?: bigint | undefined;
  readonly code?: Uint8Array | undefined;
  /** Changed slots, each at most once, in any order. */
  readonly storage?: readonly SlotDifference[] | undefined;
}

export interface SlotDifference {
  /** 32 bytes. */
  readonly slot: Uint8Array;
  /** 32 bytes; all zero deletes the slot. */
  readonly value: Uint8Array;
  /** 32 bytes: the value before the block, as the source says. The block is refused if the store has another one. */
  readonly before?: Uint8Array | undefined;
  /** The slot was deleted and written again in this block: it gets a new leaf. */
  readonly reset?: boolean | undefined;
}

/** The source says nothing of a field that is not given. */
export interface AccountBefore {
  /** false: there was no account. */
  readonly present: boolean;
  readonly nonce?: bigint | undefined;
  /** Wei. */
  readonly balance?: bigint | undefined;
  /** 32 bytes; that of no bytes for an account without code. */
  readonly keccakCodeHash?: Uint8Array | undefined;
}
