/** What crosses between the interpreter and its users. */
import type {EvmEnd} from "./ends.ts";

export interface EvmBlock {
  readonly number: bigint;
  /** Seconds. */
  readonly timestamp: bigint;
  readonly gasLimit: bigint;
  /** 20 bytes. */
  readonly coinbase: Uint8Array;
  /** Wei per gas; 0 before london. */
  readonly baseFee: bigint;
  /** Wei per blob gas. */
  readonly blobBaseFee: bigint;
  /** prevRandao; before paris the difficulty. */
  readonly random: bigint;
  readonly chainId: bigint;
}

export interface EvmMessage {
  /** 20 bytes: who signed the transaction. */
  readonly origin: Uint8Array;
  readonly caller: Uint8Array;
  /** undefined: a creation. */
  readonly to: Uint8Array | undefined;
  /** Wei. It is moved. */
  readonly value: bigint;
  /** Call data, or initcode. */
  readonly data: Uint8Array;
  /** 0 to 2^63 - 1. */
  readonly gas: bigint;
  /** Wei per gas, as GASPRICE says. */
  readonly gasPrice: bigint;
  /** Versioned hashes, 32 bytes each. */
  readonly blobHashes: readonly Uint8Array[];
  /** Which a creation's address is made of: the sender's before the transaction. */
  readonly nonce: bigint;
}

export interface EvmResult {
  readonly end: EvmEnd;
  readonly gasLeft: bigint;
  readonly returned: Uint8Array;
  /** 20 bytes, of a creation that succeeded. */
  readonly created: Uint8Array | undefined;
  /** The least gas with which the same happens. undefined: only running tells. */
  readonly leastGas: bigint | undefined;
  /** With less than `leastGas` it may succeed too, in another way: a call inside fails then. */
  readonly isBounded: boolean;
}

export interface EvmLog {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** 32 bytes each. */
  readonly topics: readonly Uint8Array[];
  readonly data: Uint8Array;
}
