/**
 * What one block does to one account, field by field. All bytes are big-endian, as on the wire.
 */

export interface AccountDifference {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** undefined: the account is deleted. */
  readonly change: AccountChange | undefined;
}

/** A field that is not given keeps its old value. A new account starts with nonce 0, balance 0 and no code. */
export interface AccountChange {
  /** The account was destroyed and created again in this block: it and its storage are dropped before the change. */
  readonly reset?: boolean;
  /** 0 <= nonce < 2^64. */
  readonly nonce?: bigint;
  /** 0 <= balance < 2^256, wei. */
  readonly balance?: bigint;
  readonly code?: Uint8Array;
  /** Changed slots, each at most once, in any order. */
  readonly storage?: readonly SlotDifference[];
}

export interface SlotDifference {
  /** 32 bytes. */
  readonly slot: Uint8Array;
  /** 32 bytes; all zero deletes the slot. */
  readonly value: Uint8Array;
}
