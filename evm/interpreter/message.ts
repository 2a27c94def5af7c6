/** Input and output of the EVM. */
import type {EvmEnd} from "./ends.ts";

export interface EvmBlock {
  readonly number: bigint;
  /** BLOCKHASH is 0 from this block on. Default: `number`. */
  readonly hashesEnd?: number;
  /** Seconds. */
  readonly timestamp: bigint;
  readonly gasLimit: bigint;
  /** 20 bytes. */
  readonly coinbase: Uint8Array;
  /** Wei per gas; 0 before london. */
  readonly baseFee: bigint;
  /** Wei per blob gas. */
  readonly blobBaseFee: bigint;
  /** prevRandao; the difficulty before paris. */
  readonly random: bigint;
  readonly chainId: bigint;
}

export interface EvmMessage {
  /** Sender of the transaction, 20 bytes. */
  readonly origin: Uint8Array;
  readonly caller: Uint8Array;
  /** undefined for a contract creation. */
  readonly to: Uint8Array | undefined;
  /** Wei, transferred from `caller`. */
  readonly value: bigint;
  /** Call data, or initcode. */
  readonly data: Uint8Array;
  /** 0 to 2^63 - 1. */
  readonly gas: bigint;
  /** Wei per gas, as GASPRICE returns it. */
  readonly gasPrice: bigint;
  /** Versioned hashes, 32 bytes each. */
  readonly blobHashes: readonly Uint8Array[];
  /** The sender's nonce before the transaction, from which the address of a creation is derived. */
  readonly nonce: bigint;
}

export interface EvmResult {
  readonly end: EvmEnd;
  readonly gasLeft: bigint;
  readonly returned: Uint8Array;
  /** Address of the contract that was created, 20 bytes. */
  readonly created: Uint8Array | undefined;
  /** The least gas with which the run is the same; undefined if unknown, because code depends on its gas. */
  readonly leastGas: bigint | undefined;
  /** With less than `leastGas`, a call inside would fail, but the run may still succeed. */
  readonly isBounded: boolean;
}

export interface EvmLog {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** 32 bytes each. */
  readonly topics: readonly Uint8Array[];
  readonly data: Uint8Array;
}
