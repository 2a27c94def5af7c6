/**
 * The BLS12-381 precompiles (EIP-2537).
 *
 *   Fp element: 64 bytes, 16 of them leading zeros    Fp2 element: c0, c1    point: x, y    scalar: 32 bytes
 */
import type {WeierstrassPoint} from "@noble/curves/abstract/weierstrass.js";
import {bls12_381} from "@noble/curves/bls12-381.js";
import {CurvePoints} from "./curvePoints.ts";
import {readNumber} from "./numbers.ts";
import {multiplyPairings} from "./pairings.ts";
import {type Precompile, require} from "./precompile.ts";

const {Fp, Fp2, Fr} = bls12_381.fields;
const WORD = 32;
const FIELD = {bytes: 64, order: Fp.ORDER};

const G1 = new CurvePoints(bls12_381.G1.Point, {
  ...FIELD,
  numbers: 1,
  split: x => [x],
  join: x => x as bigint,
});
const G2 = new CurvePoints(bls12_381.G2.Point, {
  ...FIELD,
  numbers: 2,
  split: ({c0, c1}) => [c0, c1],
  join: (c0 = 0n, c1 = 0n) => Fp2.create({c0, c1}),
});
/** Map one or two field elements to a point of the group. noble declares other types. */
const mapToG1 = bls12_381.G1.mapToCurve as unknown as (number: bigint) => WeierstrassPoint<bigint>;
const mapToG2 = bls12_381.G2.mapToCurve as unknown as (
  numbers: readonly bigint[],
) => ReturnType<typeof G2.read>;
const PAIR_BYTES = G1.bytes + G2.bytes;

export const blsAddG1 = addition(G1, 375n);
export const blsAddG2 = addition(G2, 600n);

/** Price per point in thousandths of a multiplication, by the number of points; the last one also for more points. */
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

export const blsSumG1 = multiScalar(G1, 12_000n, G1_DISCOUNTS);
export const blsSumG2 = multiScalar(G2, 22_500n, G2_DISCOUNTS);

/** Returns 1 if the product of the pairings is 1, else 0. */
export const blsPair: Precompile = {
  price: data => 37_700n + 32_600n * BigInt(Math.floor(data.length / PAIR_BYTES)),
  run(data) {
    const starts = positions(data, PAIR_BYTES);
    return multiplyPairings(bls12_381, starts.length, index => {
      const at = starts[index] as number;
      return {g1: G1.readMember(data, at), g2: G2.readMember(data, at + G1.bytes)};
    });
  },
};

export const blsMapToG1 = mapping(G1, 5500n, mapToG1);
export const blsMapToG2 = mapping(G2, 23_800n, ({c0, c1}) => mapToG2([c0, c1]));

function mapping<Element>(
  points: CurvePoints<Element>,
  gas: bigint,
  map: (number: Element) => WeierstrassPoint<Element>,
): Precompile {
  return {
    price: () => gas,
    *run(data) {
      requireLength(data, points.coordinateBytes);
      yield "long";
      return points.encode(map(points.readCoordinate(data, 0)));
    },
  };
}

function addition<Element>(points: CurvePoints<Element>, gas: bigint): Precompile {
  return {
    price: () => gas,
    run(data) {
      requireLength(data, 2 * points.bytes);
      return points.encode(points.read(data, 0).add(points.read(data, points.bytes)));
    },
  };
}

/** Multi-scalar multiplication. @param gas - price of one multiplication */
function multiScalar<Element>(
  points: CurvePoints<Element>,
  gas: bigint,
  discounts: readonly number[],
): Precompile {
  const bytes = points.bytes + WORD;
  return {
    price(data) {
      const count = Math.floor(data.length / bytes);
      const discount = discounts[Math.min(count, discounts.length) - 1] ?? 0;
      return (BigInt(count) * gas * BigInt(discount)) / 1000n;
    },
    *run(data) {
      let sum = points.Point.ZERO;
      for (const at of positions(data, bytes)) {
        yield "long";
        const scalar = readNumber(data, at + points.bytes, WORD) % Fr.ORDER;
        sum = sum.add(points.readMember(data, at).multiplyUnsafe(scalar));
      }
      return points.encode(sum);
    },
  };
}

function requireLength(data: Uint8Array, bytes: number): void {
  require(data.length === bytes, `expected ${bytes} bytes`);
}

function positions(data: Uint8Array, bytes: number): number[] {
  require(data.length > 0 && data.length % bytes === 0, `expected one or more times ${bytes} bytes`);
  return Array.from({length: data.length / bytes}, (_, i) => i * bytes);
}
