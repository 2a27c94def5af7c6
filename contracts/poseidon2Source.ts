/**
 * Writes src/Poseidon2.sol: the compression function of docs/proofs.md, section 8, as straight-line code for the EVM.
 *
 * An opcode costs 3 to 8 gas whatever its operands hold, so one opcode works on several lanes:
 *
 *   slot word   4 lanes of a group, 37 bits each: lanes 4g .. 4g + 3. Arithmetic modulo 2^148 - 1 makes it a ring of slots
 *
 *               bit  111      74       37       0
 *                     | slot 3 | slot 2 | slot 1 | slot 0 |
 *
 *   matrix      circ(2 M4, M4, M4, M4), where M4 = circ(2, 3, 1, 1): add the sum of the groups to each group, then one MULMOD by
 *               a constant is a cyclic convolution of the slots
 *   S-box       a lane is masked where it lies, at bit s. Its cube lies at bit 3s, and MULMOD by p << 3s reduces it there. So
 *               slot q moves to slot 3q = -q: the order of the lanes turns round in each full round
 *
 *               order A: lane 4g + j in slot 3 - j      order B: lane 4g + j in slot j + 1 (mod 4)
 *
 *   partial     Only lane 0 is cubed. The others are not stepped through the rounds: with S_k the sum of all lanes in round k,
 *   rounds      lane i is d_i^r (x_i + S_0 d_i^-1 + .. + S_(r-1) d_i^-r) before round r, whose bracket only grows. Lanes come in
 *               pairs of d and -d, so their sum and difference are kept: the sum of a pair needs one of them in even rounds and
 *               the other in odd ones. Two brackets lie in a word of 128-bit lanes, where one MUL adds up two products.
 *
 * Nothing is reduced that stays below its lane's width. The comments in the code give the bounds.
 */
import {keccak_256} from "@noble/hashes/sha3.js";

const P = 2130706433n;
const SLOT_BITS = 37n;
const RING = 2n ** (4n * SLOT_BITS) - 1n;
const HALF = 128n;
const FULL_ROUNDS = 3;
const PARTIAL_ROUNDS = 21;
const M4_ROW: readonly bigint[] = [2n, 3n, 1n, 1n];

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let e = exponent, b = base % P; e > 0n; e >>= 1n, b = (b * b) % P)
    if (e & 1n) result = (result * b) % P;
  return result;
}

function inverse(x: bigint): bigint {
  return power(x, P - 2n);
}

const half = (bits: bigint) => inverse(2n ** bits);
/** Lanes whose d are each other's negatives, that of the first as given. */
const PAIRS: readonly (readonly [plus: number, minus: number, d: bigint])[] = [
  [3, 6, half(1n)],
  [4, 7, 3n],
  [5, 8, 4n],
  [9, 12, half(8n)],
  [10, 13, half(3n)],
  [11, 15, half(24n)],
];
/** Lanes without such a partner; lane 1 has d = 1, and is kept as it is. */
const SINGLES: readonly (readonly [lane: number, d: bigint])[] = [
  [2, 2n],
  [14, P - half(4n)],
];

/** Constants of each round: 16 in a full round, 1 in a partial one. */
function deriveRoundConstants(): bigint[][] {
  let seed = keccak_256(new TextEncoder().encode("Poseidon2-koalabear[t=16,rF=6,rP=21,d=3]"));
  return Array.from({length: 2 * FULL_ROUNDS + PARTIAL_ROUNDS}, (_, round) => {
    const isPartial = round >= FULL_ROUNDS && round < FULL_ROUNDS + PARTIAL_ROUNDS;
    return Array.from({length: isPartial ? 1 : 16}, () => {
      seed = keccak_256(seed);
      return BigInt(`0x${Buffer.from(seed).toString("hex")}`) % P;
    });
  });
}

type Order = "A" | "B";

function slotOf(j: number, order: Order): bigint {
  return BigInt(order === "A" ? 3 - j : (j + 1) % 4);
}

function hex(n: bigint): string {
  return `0x${n.toString(16)}`;
}

const SLOT_MASK = 2n ** SLOT_BITS - 1n;

class Source {
  readonly lines: string[] = [];
  private names = 0;

  /** Binds an expression to a new name. */
  bind(expression: string): string {
    const name = `v${this.names++}`;
    this.lines.push(`let ${name} := ${expression}`);
    return name;
  }

  comment(text: string): void {
    this.lines.push(`// ${text}`);
  }
}

/** Four constants in the slots of a word. */
function inSlots(constants: readonly bigint[], order: Order): bigint {
  return constants.reduce((word, c, j) => word + (c << (SLOT_BITS * slotOf(j, order))), 0n);
}

/** The words after the matrix. @param groups - which of them are wanted */
function multiplyExternal(
  source: Source,
  words: readonly string[],
  order: Order,
  groups: readonly number[] = [0, 1, 2, 3],
): string[] {
  const [a, b, c, d] = words;
  const total = source.bind(`add(add(${a}, ${b}), add(${c}, ${d}))`);
  const kernel = M4_ROW.reduce((sum, c, m) => {
    const slot = BigInt(order === "A" ? m : (4 - m) % 4);
    return sum + (c << (SLOT_BITS * slot));
  }, 0n);
  return groups.map(g => source.bind(`mulmod(add(${words[g]}, ${total}), ${hex(kernel)}, ${hex(RING)})`));
}

/** Adds a round's constants and cubes all lanes, which turns their order round. */
function cubeSlots(
  source: Source,
  words: readonly string[],
  constants: readonly bigint[],
  order: Order,
): string[] {
  return words.map((word, g) => {
    const w = source.bind(`add(${word}, ${hex(inSlots(constants.slice(4 * g, 4 * g + 4), order))})`);
    const cubes = [0n, 1n, 2n].map(slot => {
      const shift = SLOT_BITS * slot;
      const lane = source.bind(`and(${w}, ${hex(SLOT_MASK << shift)})`);
      return source.bind(`mulmod(${lane}, mul(${lane}, ${lane}), ${hex(P << (3n * shift))})`);
    });
    const top = source.bind(`shr(${3n * SLOT_BITS}, ${w})`);
    const cube = `shl(${SLOT_BITS}, mulmod(${top}, mul(${top}, ${top}), ${hex(P)}))`;
    return source.bind(`add(add(${cubes[0]}, ${cubes[1]}), add(${cubes[2]}, ${cube}))`);
  });
}

/** One lane as a number. */
function laneOf(words: readonly string[], lane: number, order: Order): string {
  const shift = SLOT_BITS * slotOf(lane % 4, order);
  const word = words[Math.floor(lane / 4)];
  if (shift === 3n * SLOT_BITS) return `shr(${shift}, ${word})`;
  return shift === 0n ? `and(${word}, ${hex(SLOT_MASK)})` : `and(shr(${shift}, ${word}), ${hex(SLOT_MASK)})`;
}

function inHalves(low: bigint, high: bigint): string {
  return hex(low + (high << HALF));
}

/** @returns the 16 lanes after the partial rounds, with the constants of the next round added */
function partialRounds(
  source: Source,
  words: readonly string[],
  constants: readonly bigint[],
  nextConstants: readonly bigint[],
): string[] {
  const lane = (i: number) => laneOf(words, i, "B");
  const pack = (low: number, high: number) => source.bind(`or(${lane(low)}, shl(${HALF}, ${lane(high)}))`);
  const pairs = [0, 2, 4].map(i => [PAIRS[i], PAIRS[i + 1]] as [(typeof PAIRS)[0], (typeof PAIRS)[0]]);
  // A difference is kept above zero by a multiple of p.
  const bias = P << 7n;
  const sides = pairs.map(([low, high]) => {
    const [plus, minus] = [pack(low[0], high[0]), pack(low[1], high[1])];
    const sum = source.bind(`add(${plus}, ${minus})`);
    return [sum, source.bind(`sub(add(${plus}, ${inHalves(bias, bias)}), ${minus})`)] as [string, string];
  });
  const [single0, single1] = SINGLES as [(typeof SINGLES)[0], (typeof SINGLES)[0]];
  let singles = pack(single0[0], single1[0]);
  let one = source.bind(lane(1));
  let first = source.bind(lane(0));
  constants.forEach((constant, r) => {
    const round = BigInt(r);
    // Even rounds read the sums and add to the differences, odd ones the other way round.
    const [read, written] = r % 2 === 0 ? [0, 1] : [1, 0];
    const x = source.bind(`add(${first}, ${hex(constant)})`);
    const cube = source.bind(`mulmod(${x}, mul(${x}, ${x}), ${hex(P)})`);
    // The product's upper half is low * low' + high * high', where the constants stand crosswise: below 2^128.
    const products = pairs.map(
      ([low, high], w) =>
        `mul(${sides[w]?.[read]}, ${inHalves(power(high[2], round), power(low[2], round))})`,
    );
    products.push(`mul(${singles}, ${inHalves(power(single1[1], round), power(single0[1], round))})`);
    const dot = `add(add(${products[0]}, ${products[1]}), add(${products[2]}, ${products[3]}))`;
    const others = source.bind(`add(shr(${HALF}, ${dot}), ${one})`);
    const sum = source.bind(`mod(add(${others}, ${cube}), ${hex(P)})`);
    // The sum, less twice the cube.
    first = source.bind(`sub(add(${others}, ${hex(P)}), ${cube})`);
    const weight = (d: bigint) => power(inverse(d), round + 1n);
    pairs.forEach(([low, high], w) => {
      const side = sides[w] as [string, string];
      const twice = (d: bigint) => (2n * weight(d)) % P;
      side[written] = source.bind(
        `add(${side[written]}, mul(${sum}, ${inHalves(twice(low[2]), twice(high[2]))}))`,
      );
    });
    singles = source.bind(
      `add(${singles}, mul(${sum}, ${inHalves(weight(single0[1]), weight(single1[1]))}))`,
    );
    one = source.bind(`add(${one}, ${sum})`);
  });
  const lanes: string[] = [];
  const scale = (i: number, expression: string, factor: bigint) => {
    lanes[i] = `add(mul(${expression}, ${hex(factor)}), ${hex(nextConstants[i] as bigint)})`;
  };
  const low = (word: string) => `and(${word}, ${hex(2n ** HALF - 1n)})`;
  const high = (word: string) => `shr(${HALF}, ${word})`;
  const last = BigInt(PARTIAL_ROUNDS);
  // 21 is odd: the sum of a pair is d^21 times the kept difference, and the other way round.
  const wide = P << 37n;
  pairs.forEach((pair, w) => {
    const [sum, difference] = sides[w] as [string, string];
    const plus = source.bind(`add(${difference}, ${sum})`);
    const minus = source.bind(`sub(add(${difference}, ${inHalves(wide, wide)}), ${sum})`);
    pair.forEach(([a, b, d], side) => {
      const factor = (power(d, last) * inverse(2n)) % P;
      scale(a, (side === 0 ? low : high)(plus), factor);
      scale(b, (side === 0 ? low : high)(minus), factor);
    });
  });
  scale(single0[0], low(singles), power(single0[1], last));
  scale(single1[0], high(singles), power(single1[1], last));
  lanes[0] = `add(${first}, ${hex(nextConstants[0] as bigint)})`;
  lanes[1] = `add(${one}, ${hex(nextConstants[1] as bigint)})`;
  return lanes;
}

/** Cubes 16 numbers and packs them in order A. */
function cubeLanes(source: Source, lanes: readonly string[]): string[] {
  return [0, 1, 2, 3].map(g => {
    const cubes = [0, 1, 2, 3].map(j => {
      const x = source.bind(lanes[4 * g + j] as string);
      const cube = `mulmod(${x}, mul(${x}, ${x}), ${hex(P)})`;
      const shift = SLOT_BITS * slotOf(j, "A");
      return source.bind(shift === 0n ? cube : `shl(${shift}, ${cube})`);
    });
    return source.bind(`add(add(${cubes[0]}, ${cubes[1]}), add(${cubes[2]}, ${cubes[3]}))`);
  });
}

function compressBody(): string[] {
  const source = new Source();
  const rounds = deriveRoundConstants();
  const constants = (round: number) => rounds[round] as bigint[];
  let words = multiplyExternal(source, ["h0", "h1", "m0", "m1"], "A");
  let order: Order = "A";
  const turn = () => {
    order = order === "A" ? "B" : "A";
  };
  for (let round = 0; round < FULL_ROUNDS; round++) {
    source.comment(`full round ${round}`);
    words = cubeSlots(source, words, constants(round), order);
    turn();
    words = multiplyExternal(source, words, order);
  }
  source.comment("partial rounds");
  const partial = rounds.slice(FULL_ROUNDS, FULL_ROUNDS + PARTIAL_ROUNDS).map(([c]) => c as bigint);
  const next = FULL_ROUNDS + PARTIAL_ROUNDS;
  const lanes = partialRounds(source, words, partial, constants(next));
  source.comment(`full round ${next}`);
  order = "A";
  words = multiplyExternal(source, cubeLanes(source, lanes), order);
  for (let round = next + 1; round < next + FULL_ROUNDS; round++) {
    source.comment(`full round ${round}`);
    words = cubeSlots(source, words, constants(round), order);
    turn();
    const isLast = round === next + FULL_ROUNDS - 1;
    words = multiplyExternal(source, words, order, isLast ? [2, 3] : undefined);
  }
  // 2^31 = 2^24 - 1 (mod p): from below 2^37 to below 2^31.4.
  const every = (mask: bigint) => hex(inSlots([mask, mask, mask, mask], "A"));
  const fold = (word: string, m: string) => {
    const sum = source.bind(`add(${word}, ${m})`);
    const high = `and(shr(31, ${sum}), ${every(63n)})`;
    return `add(and(${sum}, ${every(2n ** 31n - 1n)}), mul(${high}, 0xffffff))`;
  };
  source.lines.push(`r0 := ${fold(words[0] as string, "m0")}`, `r1 := ${fold(words[1] as string, "m1")}`);
  return source.lines;
}

/** The text of src/Poseidon2.sol. */
export function poseidon2Source(): string {
  return `// SPDX-License-Identifier: MIT
// Written by contracts/poseidon2Source.ts, which explains it. Do not edit.
pragma solidity ^0.8.24;

library Poseidon2 {
    /// A chaining value and a block to the next chaining value, each in two words of four lanes: 37 bits apart, below 2^31.4, the first
    /// one highest.
    function compress(uint256 h0, uint256 h1, uint256 m0, uint256 m1) internal pure returns (uint256 r0, uint256 r1) {
        assembly ("memory-safe") {
${compressBody()
  .map(line => `            ${line}`)
  .join("\n")}
        }
    }
}
`;
}
