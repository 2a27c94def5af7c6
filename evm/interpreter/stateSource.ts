/** The state below the EVM: what it was before the block, or at the block that a call is made at. */

export interface SourceAccount {
  readonly nonce: bigint;
  readonly balance: bigint;
  /** 32 bytes, keccak256. */
  readonly codeHash: Uint8Array;
  /** It has a slot that is not 0 (EIP-7610). */
  readonly hasStorage: boolean;
}

/** All reads are synchronous, and what they return is never changed. Each key is read at most once until the state is another one. */
export interface StateSource {
  /** @param address - 20 bytes. @returns undefined if there is no such account */
  readAccount(address: Uint8Array): SourceAccount | undefined;
  /** @param slot - 32 bytes. @returns at most 32 bytes, most significant first; leading zeros may be left out */
  readSlot(address: Uint8Array, slot: Uint8Array): Uint8Array;
  /** @param codeHash - 32 bytes */
  readCode(codeHash: Uint8Array): Uint8Array;
  /** 32 bytes. Asked for the 256 blocks before the current one. */
  readBlockHash(number: number): Uint8Array;
}
