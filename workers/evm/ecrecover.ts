/**
 * Who signed: libsecp256k1 in WebAssembly, nine times as fast as @noble/curves, which @ethereumjs takes on its own.
 */
// Not from the package's index, which loads all of Bitcoin Cash: eight times as long.
import {instantiateSecp256k1} from "@bitauth/libauth/build/lib/crypto/secp256k1.js";
import type {CustomCrypto} from "@ethereumjs/common";
import {calculateSigRecovery, setLengthLeft} from "@ethereumjs/util";

const WORD_BYTES = 32;
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
  const recovery = calculateSigRecovery(v, chainId);
  if (recovery !== 0n && recovery !== 1n) throw new Error("the signature's v is out of range");
  const signature = Buffer.concat([setLengthLeft(r, WORD_BYTES), setLengthLeft(s, WORD_BYTES)]);
  const key = secp256k1.recoverPublicKeyUncompressed(signature, recovery === 0n ? 0 : 1, messageHash);
  if (typeof key === "string") throw new Error(key);
  return key.subarray(PREFIX_BYTES);
};
