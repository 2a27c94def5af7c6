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
