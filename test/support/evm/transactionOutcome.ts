/** One transaction in a block: what goes in, and what comes out whoever executes it. */
import {toHex} from "../../../storage/hex.ts";
import type {MemoryState} from "../chains/memoryState.ts";

export interface BlockFields {
  readonly number: bigint;
  readonly timestamp: bigint;
  readonly gasLimit: bigint;
  /** 20 bytes. */
  readonly coinbase: Uint8Array;
  readonly difficulty: bigint;
  /** 32 bytes, from paris on. */
  readonly random: Uint8Array;
  /** From london on. */
  readonly baseFee: bigint | undefined;
  /** From cancun on. */
  readonly excessBlobGas: bigint | undefined;
  readonly blockHash: (number: number) => Uint8Array;
}

interface PlainLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

export type Outcome =
  | {readonly refused: string}
  | {
      readonly refused?: undefined;
      readonly logs: readonly PlainLog[];
      readonly state: MemoryState;
    };

export function plainLog(address: Uint8Array, topics: readonly Uint8Array[], data: Uint8Array): PlainLog {
  return {address: toHex(address), topics: topics.map(toHex), data: toHex(data)};
}
