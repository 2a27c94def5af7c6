/** The precompiles of the curve bn254: addition and multiplication (EIP-196), pairings (EIP-197); their prices by EIP-1108. */
import {bn254} from "@noble/curves/bn254.js";
import {encodeNumber, readNumber} from "./numbers.ts";
import {multiplyPairings} from "./pairings.ts";
import {type Precompile, require} from "./precompile.ts";

const {Fp, Fp2, Fr} = bn254.fields;
const G1 = bn254.G1.Point;
const G2 = bn254.G2.Point;
type G1Point = InstanceType<typeof G1>;
type G2Point = InstanceType<typeof G2>;

const WORD = 32;
const PAIR_BYTES = 6 * WORD;

export const bn254Add: Precompile = {
  price: () => 150n,
  run: data => encodeG1(readG1(data, 0).add(readG1(data, 2 * WORD))),
};

export const bn254Multiply: Precompile = {
  price: () => 6000n,
  run: data => encodeG1(readG1(data, 0).multiplyUnsafe(readNumber(data, 2 * WORD, WORD) % Fr.ORDER)),
};

/** True if the product of the pairings is 1. */
export const bn254Pair: Precompile = {
  price: data => 45_000n + 34_000n * BigInt(Math.floor(data.length / PAIR_BYTES)),
  run(data) {
    require(data.length % PAIR_BYTES === 0, "its length is another one");
    return multiplyPairings(bn254, data.length / PAIR_BYTES, index => {
      const at = index * PAIR_BYTES;
      return {g1: readG1(data, at), g2: readG2(data, at + 2 * WORD)};
    });
  },
};

function readField(data: Uint8Array, at: number): bigint {
  const number = readNumber(data, at, WORD);
  require(number < Fp.ORDER, "a coordinate is not in the field");
  return number;
}

/** The point at infinity is 0, 0. Every other point of the curve is in the group. */
function readG1(data: Uint8Array, at: number): G1Point {
  const [x, y] = [readField(data, at), readField(data, at + WORD)];
  if (x === 0n && y === 0n) return G1.ZERO;
  const isOnCurve = Fp.eql(Fp.sqr(y), Fp.add(Fp.mul(Fp.sqr(x), x), G1.CURVE().b));
  require(isOnCurve, "a point is not on the curve");
  return G1.fromAffine({x, y});
}

/** Imaginary parts come first. */
function readG2(data: Uint8Array, at: number): G2Point {
  const read = (part: number): bigint => readField(data, at + part * WORD);
  const x = Fp2.create({c1: read(0), c0: read(1)});
  const y = Fp2.create({c1: read(2), c0: read(3)});
  if (Fp2.is0(x) && Fp2.is0(y)) return G2.ZERO;
  const isOnCurve = Fp2.eql(Fp2.sqr(y), Fp2.add(Fp2.mul(Fp2.sqr(x), x), G2.CURVE().b));
  require(isOnCurve, "a point is not on the curve");
  const point = G2.fromAffine({x, y});
  require(point.isTorsionFree(), "a point is not in the group");
  return point;
}

function encodeG1(point: G1Point): Uint8Array {
  const {x, y} = point.toAffine();
  return Buffer.concat([encodeNumber(x, WORD), encodeNumber(y, WORD)]);
}
