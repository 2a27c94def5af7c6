/** The product of pairings, computed in parts, for the precompiles of both curves. */
import type {bls12_381} from "@noble/curves/bls12-381.js";
import type {bn254} from "@noble/curves/bn254.js";
import {encodeNumber} from "./numbers.ts";
import type {PartTime} from "./precompile.ts";

type Curve = typeof bls12_381 | typeof bn254;
type Pair = Parameters<Curve["pairingBatch"]>[0][number];

const WORD = 32;
/** Pairings of one batch share half of their work. Each takes 5 ms. */
const PAIRS_AT_ONCE = 4;

/** @returns a word: 1 if the product is 1, else 0 */
export function* multiplyPairings(
  {fields: {Fp12}, pairingBatch}: Curve,
  count: number,
  readPair: (index: number) => Pair,
): Generator<PartTime, Uint8Array, void> {
  let product = Fp12.ONE;
  let pairs: Pair[] = [];
  for (let index = 0; index < count; index++) {
    yield "long";
    const pair = readPair(index);
    // A pairing with the point at infinity is 1, but noble refuses this point.
    if (!pair.g1.is0() && !pair.g2.is0()) pairs.push(pair);
    if (pairs.length < PAIRS_AT_ONCE && index < count - 1) continue;
    yield "long";
    product = Fp12.mul(product, pairingBatch(pairs, false));
    pairs = [];
  }
  yield "long";
  return encodeNumber(Fp12.eql(Fp12.finalExponentiate(product), Fp12.ONE) ? 1n : 0n, WORD);
}
