/** Recovers signers with libsecp256k1 in WebAssembly: nine times as fast as @noble/curves, which @ethereumjs uses. */
// The package's index also loads its Bitcoin Cash code, which takes eight times as long.
import {instantiateSecp256k1} from "@bitauth/libauth/build/lib/crypto/secp256k1.js";
import type {CustomCrypto} from "@ethereumjs/common";
import {keccak256} from "../../storage/hash/keccak.ts";

const WORD_BYTES = 32;
/** An address is the last 20 bytes of the public key's hash. */
const HASH_HEAD_BYTES = 12;
/** Largest valid s of a transaction or an authorization (EIP-2, EIP-7702): half of the curve's order. */
const MAX_S = Buffer.from("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0", "hex");
/** The first v without a chain id, and with chain id 0 (EIP-155). */
const PLAIN_V = 27n;
const CHAIN_V = 35n;
/** Prefix of an uncompressed public key. */
const PREFIX_BYTES = 1;

const secp256k1 = await instantiateSecp256k1();

/** Accepts any s. @param v - 0, 1, 27, 28 or, with `chainId`, as in EIP-155. @returns the public key, 64 bytes */
export const ecrecover: NonNullable<CustomCrypto["ecrecover"]> = (messageHash, v, r, s, chainId) => {
  const first = chainId === undefined ? PLAIN_V : CHAIN_V + 2n * chainId;
  const recovery = v === 0n || v === 1n ? v : v - first;
  if (recovery !== 0n && recovery !== 1n) throw new Error("the signature's v is out of range");
  const signature = new Uint8Array(2 * WORD_BYTES);
  signature.set(r, WORD_BYTES - r.length);
  signature.set(s, 2 * WORD_BYTES - s.length);
  const key = secp256k1.recoverPublicKeyUncompressed(signature, recovery === 0n ? 0 : 1, messageHash);
  if (typeof key === "string") throw new Error(key);
  return key.subarray(PREFIX_BYTES);
};

/** Recovers the signer of a transaction or an authorization: as recoverSigner, but s is at most half of the order. */
export function recoverAddress(hash: Uint8Array, rs: Uint8Array, isOdd: boolean): Uint8Array | undefined {
  return Buffer.compare(MAX_S, rs.subarray(WORD_BYTES)) < 0 ? undefined : recoverSigner(hash, rs, isOdd);
}

/** @param rs - r and s, 32 bytes each. @returns an address of 20 bytes; undefined if the signature is invalid */
export function recoverSigner(hash: Uint8Array, rs: Uint8Array, isOdd: boolean): Uint8Array | undefined {
  const key = secp256k1.recoverPublicKeyUncompressed(rs, isOdd ? 1 : 0, hash);
  if (typeof key === "string") return undefined;
  return keccak256(key.subarray(PREFIX_BYTES)).subarray(HASH_HEAD_BYTES);
}
