/** The state that the EVM reads: before the executed block, or at the block of a call. */

export interface SourceAccount {
  readonly nonce: bigint;
  readonly balance: bigint;
  /** 32 bytes, keccak256. */
  readonly codeHash: Uint8Array;
  /** The account has a slot that is not 0 (EIP-7610). */
  readonly hasStorage: boolean;
}

/** Synchronous. The EVM caches what is returned, does not modify it, and reads no key twice until `moveTo`. */
export interface StateSource {
  /** @param address - 20 bytes. @returns undefined if there is no such account */
  readAccount(address: Uint8Array): SourceAccount | undefined;
  /** @param slot - 32 bytes. @returns up to 32 bytes, big-endian; leading zeros may be missing */
  readSlot(address: Uint8Array, slot: Uint8Array): Uint8Array;
  /** @param codeHash - 32 bytes */
  readCode(codeHash: Uint8Array): Uint8Array;
  /** @param number - one of the 256 blocks before the current one. @returns 32 bytes */
  readBlockHash(number: number): Uint8Array;
}
