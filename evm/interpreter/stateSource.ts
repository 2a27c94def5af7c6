/** The state below the EVM: what it was before the block, or at the block that a call is made at. */

/** Of no code: keccak256 of nothing. */
export const EMPTY_CODE_HASH = new Uint8Array(
  Buffer.from("c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470", "hex"),
);

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
