/** The changes of one block to one account, field by field. All bytes are big-endian, as on the wire. */

export interface AccountDifference {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** undefined: the account is deleted. */
  readonly change: AccountChange | undefined;
  /** The account before the block according to the source. If the store has another one, the block is refused. */
  readonly before?: AccountBefore | undefined;
  /** The block only read the account: `before` is compared, nothing is written. Not with a deletion. */
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
  /** 32 bytes: the value before the block as its source says. If the store has another, the block is refused. */
  readonly before?: Uint8Array | undefined;
  /** The slot was deleted and written again in this block: it gets a new leaf. */
  readonly reset?: boolean | undefined;
}

/** A field that is not given is not compared. */
export interface AccountBefore {
  readonly present: boolean;
  readonly nonce?: bigint | undefined;
  /** Wei. */
  readonly balance?: bigint | undefined;
  /** 32 bytes. For an account without code: the hash of no bytes. */
  readonly keccakCodeHash?: Uint8Array | undefined;
}
