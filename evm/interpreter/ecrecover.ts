/**
 * Who signed: libsecp256k1 in WebAssembly, nine times as fast as @noble/curves, which @ethereumjs takes on its own.
 */
// Not from the package's index, which loads all of Bitcoin Cash: eight times as long.
import {instantiateSecp256k1} from "@bitauth/libauth/build/lib/crypto/secp256k1.js";
import type {CustomCrypto} from "@ethereumjs/common";
import {keccak256} from "../../storage/hash/keccak.ts";

const WORD_BYTES = 32;
/** An address is the last 20 bytes of the key's hash. */
const HASH_HEAD_BYTES = 12;
/** The largest s of a transaction or an authorization (EIP-2, EIP-7702): half of the curve's order. */
const MAX_S = Buffer.from("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0", "hex");
/** The first v without a chain id, and with chain id 0 (EIP-155). */
const PLAIN_V = 27n;
const CHAIN_V = 35n;
/** Of an uncompressed public key. It says that two coordinates follow. */
const PREFIX_BYTES = 1;

const secp256k1 = await instantiateSecp256k1();

/**
 * For all signatures of transactions and authorizations, and for the precompile.
 *
 * @param v - 0, 1, 27, 28 or, with `chainId`, as EIP-155 says
 * @returns the public key without its prefix, 64 bytes
 * @throws Error if nobody can have made the signature
 */
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

/**
 * For transactions and authorizations.
 *
 * @param rs - 32 bytes each
 * @param isOdd - the y of the point that r names is odd
 * @returns 20 bytes; undefined if nobody can have made the signature, or its s is one of the larger half
 */
export function recoverAddress(
  messageHash: Uint8Array,
  rs: Uint8Array,
  isOdd: boolean,
): Uint8Array | undefined {
  if (Buffer.compare(MAX_S, rs.subarray(WORD_BYTES)) < 0) return undefined;
  const key = secp256k1.recoverPublicKeyUncompressed(rs, isOdd ? 1 : 0, messageHash);
  if (typeof key === "string") return undefined;
  return keccak256(key.subarray(PREFIX_BYTES)).subarray(HASH_HEAD_BYTES);
}
