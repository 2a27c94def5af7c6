/** Signatures on the curve secp256r1 (EIP-7951). Its input is a hash, r, s and both coordinates of the key, 32 bytes each. */
import {p256} from "@noble/curves/nist.js";
import {encodeNumber} from "./numbers.ts";
import type {Precompile} from "./precompile.ts";

const WORD = 32;
const NO_BYTES = new Uint8Array(0);
/** Of an uncompressed key. */
const PREFIX = Uint8Array.of(0x04);

/** The output is 1, or nothing if the key has not signed. */
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
    // noble throws for numbers that are none of a signature, and for points that are none of the curve.
    return false;
  }
}
