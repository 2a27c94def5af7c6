/** Accounts of the demo chain. Their keys are hashes of public labels, and protect nothing of value. */
import {privateToAddress} from "@ethereumjs/util";
import {keccak_256} from "@noble/hashes/sha3.js";

export interface DemoAccount {
  readonly key: Uint8Array;
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** The nonce of the next transaction. */
  nonce: bigint;
}

export function makeAccount(label: string): DemoAccount {
  const key = hashLabel(`key of ${label}`);
  let address: Uint8Array | undefined;
  return {
    key,
    nonce: 0n,
    // It takes 1 ms, and most chains have few of the accounts.
    get address() {
      address ??= privateToAddress(key);
      return address;
    },
  };
}

/** An address without a key. It is cheaper to make, for accounts that never send. */
export function makeAddress(label: string): Uint8Array {
  return hashLabel(`address of ${label}`).subarray(12);
}

/** 32 bytes that depend on the label alone. */
export function hashLabel(label: string): Uint8Array {
  return keccak_256(Buffer.from(`proofd demo chain: ${label}`));
}
