/**
 * Poseidon2 over KoalaBear, written from docs/proofs.md, section 8.
 *
 *   word 32  =  8 elements of 4 bytes, big-endian, each below p
 *   state    =  16 elements  =  chaining value 8 | block 8
 */
import {keccak_256} from "@noble/hashes/sha3.js";
import {utf8ToBytes} from "@noble/hashes/utils.js";
import {encodeHex} from "../bytes/hex.ts";

/** The order of the field: 2^31 - 2^24 + 1. */
export const P = 2130706433;

const WIDTH = 16;
const HALF_OF_FULL_ROUNDS = 3;
const PARTIAL_ROUNDS = 21;
const BLOCK_BYTES = 32;

const INVERSE_OF_P = 1 / P;

/**
 * a * b modulo p. The quotient, below 2^31, comes from a double whose error is below 2^-20: it is one off only where
 * the remainder is within 2^11 of 0 or p. So the remainder fits 32 bits, in which the products may overflow. With `%`,
 * which needs the factors split, the hash of a branch takes 120 us instead of 27.
 */
function multiply(a: number, b: number): number {
  const quotient = Math.floor(a * b * INVERSE_OF_P);
  const rest = (Math.imul(a, b) - Math.imul(quotient, P)) | 0;
  if (rest < 0) return rest + P;
  return rest >= P ? rest - P : rest;
}

/** n modulo p, for n below 2^50: the quotient is at most one off. */
function reduce(n: number): number {
  const rest = n - Math.floor(n * INVERSE_OF_P) * P;
  if (rest < 0) return rest + P;
  return rest >= P ? rest - P : rest;
}

function power(base: number, exponent: number): number {
  if (exponent === 0) return 1;
  const half = power(multiply(base, base), Math.floor(exponent / 2));
  return exponent % 2 === 1 ? multiply(half, base) : half;
}

function inverseOfPowerOfTwo(bits: number): number {
  return power(2 ** bits, P - 2);
}

/** d of the internal matrix: lane i becomes (sum of all lanes) + d_i x_i. */
const INTERNAL_DIAGONAL: readonly number[] = [
  P - 2,
  1,
  2,
  inverseOfPowerOfTwo(1),
  3,
  4,
  P - inverseOfPowerOfTwo(1),
  P - 3,
  P - 4,
  inverseOfPowerOfTwo(8),
  inverseOfPowerOfTwo(3),
  inverseOfPowerOfTwo(24),
  P - inverseOfPowerOfTwo(8),
  P - inverseOfPowerOfTwo(3),
  P - inverseOfPowerOfTwo(4),
  P - inverseOfPowerOfTwo(24),
];

/** Constants of each round: 16 in a full round, 1 in a partial one. */
const ROUND_CONSTANTS: readonly (readonly number[])[] = deriveRoundConstants();

function deriveRoundConstants(): number[][] {
  let seed = keccak_256(utf8ToBytes("Poseidon2-koalabear[t=16,rF=6,rP=21,d=3]"));
  const rounds: number[][] = [];
  for (let round = 0; round < 2 * HALF_OF_FULL_ROUNDS + PARTIAL_ROUNDS; round++) {
    const isPartial = round >= HALF_OF_FULL_ROUNDS && round < HALF_OF_FULL_ROUNDS + PARTIAL_ROUNDS;
    rounds.push(
      Array.from({length: isPartial ? 1 : WIDTH}, () => {
        seed = keccak_256(seed);
        return Number(BigInt(encodeHex(seed)) % BigInt(P));
      }),
    );
  }
  return rounds;
}

function cube(x: number): number {
  return multiply(multiply(x, x), x);
}

/** circ(2 M4, M4, M4, M4): multiplies each group of four by M4, then adds the sum of all groups. */
function multiplyExternal(state: number[]): void {
  const total = [0, 0, 0, 0];
  for (let group = 0; group < WIDTH; group += 4) {
    const a = state[group] as number;
    const b = state[group + 1] as number;
    const c = state[group + 2] as number;
    const d = state[group + 3] as number;
    state[group] = 2 * a + 3 * b + c + d;
    state[group + 1] = a + 2 * b + 3 * c + d;
    state[group + 2] = a + b + 2 * c + 3 * d;
    state[group + 3] = 3 * a + b + c + 2 * d;
    for (let i = 0; i < 4; i++) total[i] = (total[i] as number) + (state[group + i] as number);
  }
  for (let i = 0; i < WIDTH; i++) state[i] = reduce((state[i] as number) + (total[i % 4] as number));
}

function multiplyInternal(state: number[]): void {
  let sum = 0;
  for (let i = 0; i < WIDTH; i++) sum += state[i] as number;
  for (let i = 0; i < WIDTH; i++)
    state[i] = reduce(sum + multiply(INTERNAL_DIAGONAL[i] as number, state[i] as number));
}

/** @param state - 16 elements below p; it is overwritten */
function permute(state: number[]): void {
  multiplyExternal(state);
  for (const constants of ROUND_CONSTANTS) {
    for (let i = 0; i < constants.length; i++)
      state[i] = cube(reduce((state[i] as number) + (constants[i] as number)));
    if (constants.length === WIDTH) multiplyExternal(state);
    else multiplyInternal(state);
  }
}

/** Pads a short last block with zeros on its left. @throws Error for part of an element, or one not below p */
export function poseidon2(message: Uint8Array): Uint8Array {
  if (message.length % 4 !== 0) throw new Error(`poseidon2: ${message.length} bytes are not whole elements`);
  let chaining = new Array<number>(8).fill(0);
  for (let start = 0; start < message.length; start += BLOCK_BYTES) {
    const bytes = message.subarray(start, start + BLOCK_BYTES);
    const block = readElements(bytes);
    while (block.length < 8) block.unshift(0);
    const state = [...chaining, ...block];
    permute(state);
    chaining = block.map((element, i) => reduce((state[8 + i] as number) + element));
  }
  const digest = new DataView(new ArrayBuffer(32));
  for (let i = 0; i < 8; i++) digest.setUint32(4 * i, chaining[i] as number);
  return new Uint8Array(digest.buffer);
}

function readElements(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({length: bytes.length / 4}, (_, i) => {
    const element = view.getUint32(4 * i);
    if (element >= P) throw new Error(`poseidon2: element ${element} is not below p`);
    return element;
  });
}
