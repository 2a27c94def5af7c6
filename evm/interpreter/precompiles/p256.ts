/** Verifies secp256r1 signatures (EIP-7951). Input: hash, r, s, and x and y of the public key, 32 bytes each. */
import {p256} from "@noble/curves/nist.js";
import {encodeNumber} from "./numbers.ts";
import type {Precompile} from "./precompile.ts";

const WORD = 32;
const NO_BYTES = new Uint8Array(0);
/** Prefix of an uncompressed key. */
const PREFIX = Uint8Array.of(0x04);

/** Returns 1, or nothing if the signature is invalid. */
export const p256Verify: Precompile = {
  price: () => 6900n,
  run: data => (isSigned(data) ? encodeNumber(1n, WORD) : NO_BYTES),
};

function isSigned(data: Uint8Array): boolean {
  if (data.length !== 5 * WORD) return false;
  const key = Buffer.concat([PREFIX, data.subarray(3 * WORD)]);
  const [hash, rs] = [data.subarray(0, WORD), data.subarray(WORD, 3 * WORD)];
  try {
    return p256.verify(rs, hash, key, {prehash: false, lowS: false});
  } catch {
    // noble throws if r or s is out of range, or the key is not on the curve.
    return false;
  }
}
