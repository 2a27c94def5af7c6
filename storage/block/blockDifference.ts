/** A block as it is written to the store. All bytes are big-endian, as on the wire. */
import type {AccountDifferences} from "./accountDifferences.ts";
import type {BlockTrie} from "./blockTrie.ts";
import type {SliceBlock} from "./sliceBlock.ts";

/** The fields of a header that the store keeps: those that its source gives. */
export interface BlockHeader {
  readonly number: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** 32 bytes. Not checked if the source does not give it. */
  readonly parentHash?: Uint8Array | undefined;
  /** Seconds since 1970. */
  readonly timestamp?: bigint | undefined;
  readonly gasLimit?: bigint | undefined;
  /** Wei. */
  readonly baseFeePerGas?: bigint | undefined;
  /** 20 bytes. */
  readonly miner?: Uint8Array | undefined;
  /** 32 bytes; prevRandao since the merge. */
  readonly mixHash?: Uint8Array | undefined;
  /** 0 to MAX_EXTRA_DATA_BYTES bytes. */
  readonly extraData?: Uint8Array | undefined;
  /** 0 since the merge; 0 <= difficulty < 2^256. */
  readonly difficulty?: bigint | undefined;
  /** 32 bytes: the root of the chain's own state trie. It is not the root of the trees of this store. */
  readonly stateRoot?: Uint8Array | undefined;
  readonly gasUsed?: bigint | undefined;
  readonly blobGasUsed?: bigint | undefined;
  readonly excessBlobGas?: bigint | undefined;
  /** The other items of the header, of Ethereum or of another chain, as RLP in their order: headerRlp.ts. */
  readonly rest?: Uint8Array | undefined;
}

export interface BlockDifference {
  readonly header: BlockHeader;
  /** 32 bytes: the top root of the account tree after the block, which is refused if it gets another one. */
  readonly expectedStateRoot?: Uint8Array | undefined;
  readonly accounts: AccountDifferences;
  /** Its state trie, whose pages its execution put. */
  readonly trie?: BlockTrie | undefined;
  readonly chain?: ChainConfig | undefined;
  /** Of a store of slices, instead of `accounts`. "missed": its state was not to be had, and only its header is stored. */
  readonly slice?: SliceBlock | "missed" | undefined;
  /** Of the first block of a store that does not begin with block 0. */
  readonly first?: FirstBlock | undefined;
}

/** Set by the first block of a store, and never changed. */
export interface ChainConfig {
  readonly chainId?: bigint | undefined;
  /** geth's genesis `config` object (hard forks), as JSON text. */
  readonly config?: string | undefined;
}

export interface FirstBlock {
  /** Above 0. */
  readonly number: number;
  /** Known hashes of the blocks before it, newest first: at most 256, which the EVM can ask for. */
  readonly ancestors: readonly Uint8Array[];
}
