/**
 * Where the lanes of the partial rounds lie, three in a word, and the constants that step them.
 *
 * MULMOD by p << 202 takes a word's brackets b times their factors and adds them up, as a number from bit 202 on: with b_i at bit a_i
 * and c_j at bit 202 - a_j, b_i c_j lies at 202 + a_i - a_j. Those that are not below bit 202 add up modulo p to what the c_j are
 * chosen for. The others end below it, as lanes lie far enough apart.
 */
import {inverse, modP, P, power} from "./koalaBear.ts";

export const PARTIAL_ROUNDS = 21;
/** Where dot products lie. Three of them, each below p, fit above. */
export const DOT = 202n;

/** Lanes in the words of the partial rounds: the sum or the difference of two whose d are each other's negatives, or one alone. */
export interface Bracket {
  readonly plus: number;
  readonly minus?: number;
  /** Of `plus`. */
  readonly d: bigint;
  /** Its lowest bit in the word. */
  readonly at: bigint;
  /** What is kept is so many times the bracket. That of d = 3 is chosen for small constants, so that it has 62 bits and not 65. */
  readonly scale: bigint;
}

const half = (bits: bigint) => inverse(2n ** bits);
export const PAIR_WORDS: readonly (readonly Bracket[])[] = [
  [
    {plus: 11, minus: 15, d: half(24n), at: 0n, scale: 1n},
    {plus: 5, minus: 8, d: 4n, at: 100n, scale: 1n},
    {plus: 3, minus: 6, d: half(1n), at: 199n, scale: 1n},
  ],
  [
    {plus: 9, minus: 12, d: half(8n), at: 0n, scale: 1n},
    {plus: 4, minus: 7, d: 3n, at: 97n, scale: 1487591n},
    {plus: 10, minus: 13, d: half(3n), at: 192n, scale: 1n},
  ],
];
export const SINGLES: readonly Bracket[] = [
  {plus: 14, d: P - half(4n), at: 0n, scale: 1n},
  {plus: 2, d: 2n, at: 101n, scale: 1n},
  {plus: 1, d: 1n, at: 202n, scale: 1n},
];

/** One number for each bracket of a word, in its place. */
export function inBrackets(word: readonly Bracket[], number: (bracket: Bracket) => bigint): bigint {
  return word.reduce((sum, bracket) => sum + (number(bracket) << bracket.at), 0n);
}

/** @returns the constant by which a word is multiplied modulo p << DOT, for a dot product with d^round */
export function dotConstant(word: readonly Bracket[], round: bigint): bigint {
  const factors: bigint[] = [];
  word.forEach(({d, at, scale}, i) => {
    const others = word
      .slice(0, i)
      .reduce((sum, {at: lower}, j) => sum + ((factors[j] as bigint) << (at - lower)), 0n);
    factors.push(modP(power(d, round) * inverse(scale) - others));
  });
  return word.reduce((sum, {at}, i) => sum + ((factors[i] as bigint) << (DOT - at)), 0n);
}

/** @returns what S_round is multiplied by before it is added to a bracket */
export function growth({d, scale, minus}: Bracket, round: bigint): bigint {
  return modP((minus === undefined ? 1n : 2n) * scale * power(inverse(d), round + 1n));
}

/** @returns a multiple of p that no bracket reaches to which the given rounds add; a lane is below 2^36.2, and p << 6 above it */
export function boundOf(bracket: Bracket, rounds: readonly bigint[]): bigint {
  return P * rounds.reduce((sum, round) => sum + growth(bracket, round), bracket.scale << 7n);
}

const ALL_ROUNDS = Array.from({length: PARTIAL_ROUNDS}, (_, round) => BigInt(round));
/** What adds to the sum of a pair. */
export const ODD_ROUNDS = ALL_ROUNDS.filter(round => round % 2n === 1n);
const EVEN_ROUNDS = ALL_ROUNDS.filter(round => round % 2n === 0n);

/** @throws Error if brackets could touch each other, or what lies below the dot products could carry into them */
export function checkPlaces(): void {
  let below = 0n;
  for (const word of [...PAIR_WORDS, SINGLES])
    word.forEach((bracket, i) => {
      const alone = bracket.minus === undefined;
      const [first, second] = [
        boundOf(bracket, alone ? ALL_ROUNDS : ODD_ROUNDS),
        boundOf(bracket, EVEN_ROUNDS),
      ];
      // At the end, a sum and a difference are added, and a constant.
      const bound = alone ? first + P : first + second + P;
      const end = word[i + 1]?.at ?? 256n;
      if (bound >> (end - bracket.at) > 0n)
        throw new Error(`lane ${bracket.plus} does not fit into its place`);
      const most = first > second ? first : second;
      for (const {at} of word.slice(i + 1)) below += ((most * P) << DOT) >> (at - bracket.at);
    });
  if (below >> DOT > 0n) throw new Error("dot products are not exact");
}
