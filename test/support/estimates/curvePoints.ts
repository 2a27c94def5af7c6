/** Points and field elements as the pairing precompiles read them, made of multiples of the generators. */
import {bls12_381} from "@noble/curves/bls12-381.js";
import {bn254} from "@noble/curves/bn254.js";
import {word} from "../../../client/hash/hashSuites.ts";

export function bnG1(times: bigint): Uint8Array {
  const {x, y} = bn254.G1.Point.BASE.multiply(times).toAffine();
  return Buffer.concat([x, y].map(word));
}

/** Imaginary parts first (EIP-197). */
export function bnG2(times: bigint): Uint8Array {
  const {x, y} = bn254.G2.Point.BASE.multiply(times).toAffine();
  return Buffer.concat([x.c1, x.c0, y.c1, y.c0].map(word));
}

export function blsG1(times: bigint): Uint8Array {
  const {x, y} = bls12_381.G1.Point.BASE.multiply(times).toAffine();
  return Buffer.concat([x, y].map(blsField));
}

/** Real parts first (EIP-2537). */
export function blsG2(times: bigint): Uint8Array {
  const {x, y} = bls12_381.G2.Point.BASE.multiply(times).toAffine();
  return Buffer.concat([x.c0, x.c1, y.c0, y.c1].map(blsField));
}

/** EIP-2537: 16 zero bytes, then 48. */
export function blsField(value: bigint): Uint8Array {
  return Buffer.from(value.toString(16).padStart(128, "0"), "hex");
}
