/**
 * A block as the store takes it: header fields, and what it changes in the state.
 *
 * Sources: block differences as NDJSON lines (workers/import/differenceLines.ts) and executed blocks
 * (workers/execution/). All bytes are big-endian, as on the wire.
 */
import type {AccountDifferences} from "./accountDifferences.ts";

/** What is kept of a block's header. `hash` and `number` are always there, the rest where the source has it. */
export interface BlockHeader {
  readonly number: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** 32 bytes; absent = not given by the source, and then not checked. */
  readonly parentHash?: Uint8Array;
  /** Seconds since 1970. */
  readonly timestamp?: bigint;
  readonly gasLimit?: bigint;
  /** Wei. */
  readonly baseFeePerGas?: bigint;
  /** 20 bytes. */
  readonly miner?: Uint8Array;
  /** 32 bytes; prevRandao since the merge. */
  readonly mixHash?: Uint8Array;
  /** 0 to MAX_EXTRA_DATA_BYTES bytes. */
  readonly extraData?: Uint8Array;
  /** 0 since the merge; 0 <= difficulty < 2^256. */
  readonly difficulty?: bigint;
}

export interface BlockDifference {
  readonly header: BlockHeader;
  /** The top root that the account tree must have after this block (32 bytes); another one refuses the block. */
  readonly expectedStateRoot?: Uint8Array;
  readonly accounts: AccountDifferences;
  /** Block 0 only: what the chain is. */
  readonly chain?: ChainConfig;
}

/** Fixed by block 0 for the life of a store. */
export interface ChainConfig {
  readonly chainId?: bigint;
  /** geth's genesis `config` object (hard forks), as JSON text. */
  readonly config?: string;
}

/** What one block does to one account. */
export interface AccountDifference {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** null: the account is deleted. */
  readonly change: AccountChange | null;
}

/** A field left out keeps its old value; for a new account nonce 0, balance 0, no code. */
export interface AccountChange {
  /** Drop the account and its storage first: it was destroyed and created again in this block. */
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
