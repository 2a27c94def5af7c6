/**
 * The precompiles of the curve BLS12-381 (EIP-2537).
 *
 *   field element 64: 16 zeros, then 48    field element of G2: real part, imaginary part    point: x, y    scalar 32
 */
import {bls12_381} from "@noble/curves/bls12-381.js";
import {encodeNumber, readNumber} from "./numbers.ts";
import {multiplyPairings} from "./pairings.ts";
import {type Precompile, require} from "./precompile.ts";

const {Fp, Fp2, Fr} = bls12_381.fields;
const G1 = bls12_381.G1.Point;
const G2 = bls12_381.G2.Point;
type G1Point = InstanceType<typeof G1>;
type G2Point = InstanceType<typeof G2>;
/** They take one number and two, and give a point of the group. noble's types say otherwise. */
const mapToG1 = bls12_381.G1.mapToCurve as unknown as (number: bigint) => G1Point;
const mapToG2 = bls12_381.G2.mapToCurve as unknown as (numbers: readonly bigint[]) => G2Point;

const WORD = 32;
const FIELD = 64;
const G1_BYTES = 2 * FIELD;
const G2_BYTES = 4 * FIELD;
const PAIR_BYTES = G1_BYTES + G2_BYTES;

export const blsAddG1: Precompile = {
  price: () => 375n,
  run(data) {
    requireLength(data, 2 * G1_BYTES);
    return encodeG1(readG1(data, 0).add(readG1(data, G1_BYTES)));
  },
};

export const blsAddG2: Precompile = {
  price: () => 600n,
  run(data) {
    requireLength(data, 2 * G2_BYTES);
    return encodeG2(readG2(data, 0).add(readG2(data, G2_BYTES)));
  },
};

/** The sum of points, each times a scalar. */
export const blsSumG1: Precompile = {
  price: data => priceOfSum(data, G1_BYTES + WORD, 12_000n, G1_DISCOUNTS),
  *run(data) {
    let sum = G1.ZERO;
    for (const at of positions(data, G1_BYTES + WORD)) {
      yield "long";
      const point = readG1(data, at);
      requireMember(point);
      sum = sum.add(point.multiplyUnsafe(readScalar(data, at + G1_BYTES)));
    }
    return encodeG1(sum);
  },
};

export const blsSumG2: Precompile = {
  price: data => priceOfSum(data, G2_BYTES + WORD, 22_500n, G2_DISCOUNTS),
  *run(data) {
    let sum = G2.ZERO;
    for (const at of positions(data, G2_BYTES + WORD)) {
      yield "long";
      const point = readG2(data, at);
      requireMember(point);
      sum = sum.add(point.multiplyUnsafe(readScalar(data, at + G2_BYTES)));
    }
    return encodeG2(sum);
  },
};

/** True if the product of the pairings is 1. */
export const blsPair: Precompile = {
  price: data => 37_700n + 32_600n * BigInt(Math.floor(data.length / PAIR_BYTES)),
  run(data) {
    const starts = positions(data, PAIR_BYTES);
    return multiplyPairings(bls12_381, starts.length, index => {
      const at = starts[index];
      const pair = {g1: readG1(data, at), g2: readG2(data, at + G1_BYTES)};
      requireMember(pair.g1);
      requireMember(pair.g2);
      return pair;
    });
  },
};

export const blsMapToG1: Precompile = {
  price: () => 5500n,
  run(data) {
    requireLength(data, FIELD);
    return encodeG1(mapToG1(readField(data, 0)));
  },
};

export const blsMapToG2: Precompile = {
  price: () => 23_800n,
  *run(data) {
    requireLength(data, 2 * FIELD);
    yield "long";
    return encodeG2(mapToG2([readField(data, 0), readField(data, FIELD)]));
  },
};

function requireLength(data: Uint8Array, bytes: number): void {
  require(data.length === bytes, "its length is another one");
}

/** Where the parts of the input begin. */
function positions(data: Uint8Array, bytes: number): number[] {
  require(data.length > 0 && data.length % bytes === 0, "its length is another one");
  return Array.from({length: data.length / bytes}, (_, i) => i * bytes);
}

function readField(data: Uint8Array, at: number): bigint {
  const number = readNumber(data, at, FIELD);
  require(number < Fp.ORDER, "a coordinate is not in the field");
  return number;
}

function readScalar(data: Uint8Array, at: number): bigint {
  return readNumber(data, at, WORD) % Fr.ORDER;
}

/** The point at infinity is 0, 0. */
function readG1(data: Uint8Array, at: number): G1Point {
  const [x, y] = [readField(data, at), readField(data, at + FIELD)];
  if (x === 0n && y === 0n) return G1.ZERO;
  const isOnCurve = Fp.eql(Fp.sqr(y), Fp.add(Fp.mul(Fp.sqr(x), x), G1.CURVE().b));
  require(isOnCurve, "a point is not on the curve");
  return G1.fromAffine({x, y});
}

function readG2(data: Uint8Array, at: number): G2Point {
  const read = (part: number): bigint => readField(data, at + part * FIELD);
  const x = Fp2.create({c0: read(0), c1: read(1)});
  const y = Fp2.create({c0: read(2), c1: read(3)});
  if (Fp2.is0(x) && Fp2.is0(y)) return G2.ZERO;
  const isOnCurve = Fp2.eql(Fp2.sqr(y), Fp2.add(Fp2.mul(Fp2.sqr(x), x), G2.CURVE().b));
  require(isOnCurve, "a point is not on the curve");
  return G2.fromAffine({x, y});
}

function requireMember(point: G1Point | G2Point): void {
  require(point.is0() || point.isTorsionFree(), "a point is not in the group");
}

function encodeG1(point: G1Point): Uint8Array {
  const {x, y} = point.toAffine();
  return Buffer.concat([x, y].map(number => encodeNumber(number, FIELD)));
}

function encodeG2(point: G2Point): Uint8Array {
  const {x, y} = point.toAffine();
  return Buffer.concat([x.c0, x.c1, y.c0, y.c1].map(number => encodeNumber(number, FIELD)));
}

/** In thousandths of the price of one multiplication each, by the number of points; the last for all greater numbers. */
const G1_DISCOUNTS: readonly number[] = [
  1000, 949, 848, 797, 764, 750, 738, 728, 719, 712, 705, 698, 692, 687, 682, 677, 673, 669, 665, 661, 658,
  654, 651, 648, 645, 642, 640, 637, 635, 632, 630, 627, 625, 623, 621, 619, 617, 615, 613, 611, 609, 608,
  606, 604, 603, 601, 599, 598, 596, 595, 593, 592, 591, 589, 588, 586, 585, 584, 582, 581, 580, 579, 577,
  576, 575, 574, 573, 572, 570, 569, 568, 567, 566, 565, 564, 563, 562, 561, 560, 559, 558, 557, 556, 555,
  554, 553, 552, 551, 550, 549, 548, 547, 547, 546, 545, 544, 543, 542, 541, 540, 540, 539, 538, 537, 536,
  536, 535, 534, 533, 532, 532, 531, 530, 529, 528, 528, 527, 526, 525, 525, 524, 523, 522, 522, 521, 520,
  520, 519,
];
const G2_DISCOUNTS: readonly number[] = [
  1000, 1000, 923, 884, 855, 832, 812, 796, 782, 770, 759, 749, 740, 732, 724, 717, 711, 704, 699, 693, 688,
  683, 679, 674, 670, 666, 663, 659, 655, 652, 649, 646, 643, 640, 637, 634, 632, 629, 627, 624, 622, 620,
  618, 615, 613, 611, 609, 607, 606, 604, 602, 600, 598, 597, 595, 593, 592, 590, 589, 587, 586, 584, 583,
  582, 580, 579, 578, 576, 575, 574, 573, 571, 570, 569, 568, 567, 566, 565, 563, 562, 561, 560, 559, 558,
  557, 556, 555, 554, 553, 552, 552, 551, 550, 549, 548, 547, 546, 545, 545, 544, 543, 542, 541, 541, 540,
  539, 538, 537, 537, 536, 535, 535, 534, 533, 532, 532, 531, 530, 530, 529, 528, 528, 527, 526, 526, 525,
  524, 524,
];

function priceOfSum(
  data: Uint8Array,
  bytes: number,
  multiplicationGas: bigint,
  discounts: readonly number[],
): bigint {
  const count = Math.floor(data.length / bytes);
  const discount = discounts[Math.min(count, discounts.length) - 1] ?? 0;
  return (BigInt(count) * multiplicationGas * BigInt(discount)) / 1000n;
}
