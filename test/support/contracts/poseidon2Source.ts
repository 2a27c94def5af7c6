/**
 * Writes contracts/src/Poseidon2.sol: the compression function of docs/proofs.md, section 8, as straight-line code for the EVM.
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
 *               the other in odd ones. Three brackets lie in a word (brackets.ts). One MUL and one ADD put S_r into all three, and
 *               one MULMOD takes them times their factors and adds them up.
 *
 * Nothing is reduced that stays below its lane's width. The comments in the code give the bounds.
 */
import {keccak_256} from "@noble/hashes/sha3.js";
import {
  type Bracket,
  boundOf,
  checkPlaces,
  DOT,
  dotConstant,
  growth,
  inBrackets,
  ODD_ROUNDS,
  PAIR_WORDS,
  PARTIAL_ROUNDS,
  SINGLES,
} from "./brackets.ts";
import {inverse, modP, P, power} from "./koalaBear.ts";

const SLOT_BITS = 37n;
const RING = 2n ** (4n * SLOT_BITS) - 1n;
const FULL_ROUNDS = 3;
const M4_ROW: readonly bigint[] = [2n, 3n, 1n, 1n];

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
  return groups.map(g => source.bind(`mulmod(add(${total}, ${words[g]}), ${hex(kernel)}, ${hex(RING)})`));
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

function laneOf(words: readonly string[], lane: number, order: Order): string {
  const shift = SLOT_BITS * slotOf(lane % 4, order);
  const word = words[Math.floor(lane / 4)];
  if (shift === 3n * SLOT_BITS) return `shr(${shift}, ${word})`;
  return shift === 0n ? `and(${word}, ${hex(SLOT_MASK)})` : `and(shr(${shift}, ${word}), ${hex(SLOT_MASK)})`;
}

/** One lane, scaled, at its place in a word of brackets. */
function placeLane(words: readonly string[], lane: number, {at, scale}: Bracket): string {
  const slot = SLOT_BITS * slotOf(lane % 4, "B");
  const word = words[Math.floor(lane / 4)];
  if (at < slot || slot === 3n * SLOT_BITS) return shiftLeft(laneOf(words, lane, "B"), at, scale);
  return shiftLeft(`and(${word}, ${hex(SLOT_MASK << slot)})`, at - slot, scale);
}

function shiftLeft(expression: string, bits: bigint, scale: bigint): string {
  if (scale !== 1n) return `mul(${expression}, ${hex(scale << bits)})`;
  return bits === 0n ? expression : `shl(${bits}, ${expression})`;
}

/** An expression, and what it must be multiplied by: a lane is their product. */
type Scaled = readonly [expression: string, factor: bigint];

/** @returns the 16 lanes after the partial rounds, with the constants of the next round added */
function partialRounds(
  source: Source,
  words: readonly string[],
  constants: readonly bigint[],
  nextConstants: readonly bigint[],
): Scaled[] {
  const pack = (word: readonly Bracket[], side: "plus" | "minus") => {
    const placed = word.map(bracket => placeLane(words, bracket[side] as number, bracket));
    return source.bind(`add(add(${placed[0]}, ${placed[1]}), ${placed[2]})`);
  };
  // Sums and differences. A difference is kept above zero by a multiple of p.
  const sides = PAIR_WORDS.map(word => {
    const [plus, minus] = [pack(word, "plus"), pack(word, "minus")];
    const bias = inBrackets(word, ({scale}) => scale * (P << 6n));
    const sum = source.bind(`add(${plus}, ${minus})`);
    return [sum, source.bind(`sub(add(${plus}, ${hex(bias)}), ${minus})`)] as [string, string];
  });
  let singles = pack(SINGLES, "plus");
  let first = source.bind(`add(${laneOf(words, 0, "B")}, ${hex(constants[0] as bigint)})`);
  // What is added to lane 0 after each round: the next constant, and p for a cube that is subtracted.
  const added = [...constants.slice(1), nextConstants[0] as bigint].map(constant => constant + P);
  added.forEach((constant, r) => {
    const round = BigInt(r);
    // Even rounds read the sums and add to the differences, odd ones the other way round.
    const [read, written] = r % 2 === 0 ? [0, 1] : [1, 0];
    const cube = source.bind(`mulmod(${first}, mul(${first}, ${first}), ${hex(P)})`);
    const dot = (word: readonly Bracket[], brackets: string | undefined) =>
      `mulmod(${brackets}, ${hex(dotConstant(word, round))}, ${hex(P << DOT)})`;
    const dots = PAIR_WORDS.map((word, w) => dot(word, sides[w]?.[read]));
    const others = source.bind(`shr(${DOT}, add(add(${dots[0]}, ${dots[1]}), ${dot(SINGLES, singles)}))`);
    const sum = source.bind(`mod(add(${others}, ${cube}), ${hex(P)})`);
    // The sum, less twice the cube.
    first = source.bind(`sub(add(${others}, ${hex(constant)}), ${cube})`);
    PAIR_WORDS.forEach((word, w) => {
      const side = sides[w] as [string, string];
      side[written] = source.bind(
        `add(mul(${sum}, ${hex(inBrackets(word, bracket => growth(bracket, round)))}), ${side[written]})`,
      );
    });
    singles = source.bind(
      `add(${singles}, mul(${sum}, ${hex(inBrackets(SINGLES, bracket => growth(bracket, round)))}))`,
    );
  });
  const lanes: Scaled[] = [];
  // A lane's constant is added before its factor.
  const before = (lane: number | undefined, factor: bigint) =>
    modP((nextConstants[lane as number] as bigint) * inverse(factor));
  const take = (word: readonly Bracket[], i: number, brackets: string) => {
    const {at} = word[i] as Bracket;
    const down = at === 0n ? brackets : `shr(${at}, ${brackets})`;
    const next = word[i + 1];
    return next === undefined ? down : `and(${down}, ${hex(2n ** (next.at - at) - 1n)})`;
  };
  const last = BigInt(PARTIAL_ROUNDS);
  const factorOf = ({d, scale, minus}: Bracket) =>
    modP(power(d, last) * inverse(scale) * (minus === undefined ? 1n : inverse(2n)));
  PAIR_WORDS.forEach((word, w) => {
    const [sum, difference] = sides[w] as [string, string];
    // 21 is odd: the sum of a pair is d^21 times the kept difference, and the other way round.
    const forPlus = inBrackets(word, bracket => before(bracket.plus, factorOf(bracket)));
    const forMinus = inBrackets(
      word,
      bracket => boundOf(bracket, ODD_ROUNDS) + before(bracket.minus, factorOf(bracket)),
    );
    const plus = source.bind(`add(add(${difference}, ${hex(forPlus)}), ${sum})`);
    const minus = source.bind(`sub(add(${difference}, ${hex(forMinus)}), ${sum})`);
    word.forEach((bracket, i) => {
      lanes[bracket.plus] = [take(word, i, plus), factorOf(bracket)];
      lanes[bracket.minus as number] = [take(word, i, minus), factorOf(bracket)];
    });
  });
  const forSingles = inBrackets(SINGLES, bracket => before(bracket.plus, factorOf(bracket)));
  singles = source.bind(`add(${singles}, ${hex(forSingles)})`);
  SINGLES.forEach((bracket, i) => {
    lanes[bracket.plus] = [take(SINGLES, i, singles), factorOf(bracket)];
  });
  lanes[0] = [first, 1n];
  return lanes;
}

/** Cubes 16 lanes and packs them in order A. A factor costs no more than the shift, since its cube and the shift are one constant. */
function cubeLanes(source: Source, lanes: readonly Scaled[]): string[] {
  return [0, 1, 2, 3].map(g => {
    const cubes = [0, 1, 2, 3].map(j => {
      const [expression, factor] = lanes[4 * g + j] as Scaled;
      const x = source.bind(expression);
      const shift = SLOT_BITS * slotOf(j, "A");
      const scale = hex(power(factor, 3n) << shift);
      return source.bind(`mulmod(mul(${x}, ${scale}), mul(${x}, ${x}), ${hex(P << shift)})`);
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
  // p, as often as 2^31 goes into a lane, is taken off: from below 2^37 to below 2^31.4.
  const every = (mask: bigint) => hex(inSlots([mask, mask, mask, mask], "A"));
  const fold = (word: string, m: string) => {
    const sum = source.bind(`add(${word}, ${m})`);
    return `sub(${sum}, mul(and(shr(31, ${sum}), ${every(63n)}), ${hex(P)}))`;
  };
  source.lines.push(`r0 := ${fold(words[0] as string, "m0")}`, `r1 := ${fold(words[1] as string, "m1")}`);
  return source.lines;
}

/** The text of contracts/src/Poseidon2.sol. */
export function poseidon2Source(): string {
  checkPlaces();
  return `// SPDX-License-Identifier: MIT
// Written by test/support/contracts/poseidon2Source.ts, which explains it. Do not edit.
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
