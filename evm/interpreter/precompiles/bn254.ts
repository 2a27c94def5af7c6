/** The bn254 precompiles: addition and multiplication (EIP-196), pairings (EIP-197); prices of EIP-1108. */
import {bn254} from "@noble/curves/bn254.js";
import {CurvePoints} from "./curvePoints.ts";
import {readNumber} from "./numbers.ts";
import {multiplyPairings} from "./pairings.ts";
import {type Precompile, require} from "./precompile.ts";

const {Fp, Fp2, Fr} = bn254.fields;
const WORD = 32;
const FIELD = {bytes: WORD, order: Fp.ORDER};

/** The cofactor is 1: every point of the curve is in the group. */
const G1 = new CurvePoints(bn254.G1.Point, {...FIELD, numbers: 1, split: x => [x], join: x => x as bigint});
/** The imaginary part of a coordinate comes first. */
const G2 = new CurvePoints(bn254.G2.Point, {
  ...FIELD,
  numbers: 2,
  split: ({c0, c1}) => [c1, c0],
  join: (c1 = 0n, c0 = 0n) => Fp2.create({c0, c1}),
});
const PAIR_BYTES = G1.bytes + G2.bytes;

export const bn254Add: Precompile = {
  price: () => 150n,
  run: data => G1.encode(G1.read(data, 0).add(G1.read(data, G1.bytes))),
};

export const bn254Multiply: Precompile = {
  price: () => 6000n,
  run: data => G1.encode(G1.read(data, 0).multiplyUnsafe(readNumber(data, G1.bytes, WORD) % Fr.ORDER)),
};

/** Returns 1 if the product of the pairings is 1, else 0. */
export const bn254Pair: Precompile = {
  price: data => 45_000n + 34_000n * BigInt(Math.floor(data.length / PAIR_BYTES)),
  run(data) {
    require(data.length % PAIR_BYTES === 0, `expected a multiple of ${PAIR_BYTES} bytes`);
    return multiplyPairings(bn254, data.length / PAIR_BYTES, index => {
      const at = index * PAIR_BYTES;
      return {g1: G1.read(data, at), g2: G2.readMember(data, at + G1.bytes)};
    });
  },
};
