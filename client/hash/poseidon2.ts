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

/** Splits one factor at 16 bits. Then every product stays below 2^48, where numbers are exact. */
function multiply(a: number, b: number): number {
  const high = Math.floor(a / 65536);
  const low = a % 65536;
  return (((high * b) % P) * 65536 + low * b) % P;
}

function power(base: number, exponent: number): number {
  if (exponent === 0) return 1;
  const half = power(multiply(base, base), Math.floor(exponent / 2));
  return exponent % 2 === 1 ? multiply(half, base) : half;
}

/** @returns 2^-bits */
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
    const [a, b, c, d] = state.slice(group, group + 4) as [number, number, number, number];
    const product = [
      2 * a + 3 * b + c + d, //
      a + 2 * b + 3 * c + d,
      a + b + 2 * c + 3 * d,
      3 * a + b + c + 2 * d,
    ];
    for (let i = 0; i < 4; i++) {
      state[group + i] = product[i] as number;
      total[i] = (total[i] as number) + (product[i] as number);
    }
  }
  for (let i = 0; i < WIDTH; i++) state[i] = ((state[i] as number) + (total[i % 4] as number)) % P;
}

function multiplyInternal(state: number[]): void {
  const sum = state.reduce((a, b) => a + b, 0);
  for (let i = 0; i < WIDTH; i++)
    state[i] = (sum + multiply(INTERNAL_DIAGONAL[i] as number, state[i] as number)) % P;
}

/** @param state - 16 elements below p; it is overwritten */
function permute(state: number[]): void {
  multiplyExternal(state);
  for (const constants of ROUND_CONSTANTS) {
    for (let i = 0; i < constants.length; i++)
      state[i] = cube(((state[i] as number) + (constants[i] as number)) % P);
    if (constants.length === WIDTH) multiplyExternal(state);
    else multiplyInternal(state);
  }
}

/**
 * @param message - whole elements; a short last block is padded with zeros on its left
 * @returns 32 bytes
 * @throws Error if an element is p or more, or if the length is not a whole number of elements
 */
export function poseidon2(message: Uint8Array): Uint8Array {
  if (message.length % 4 !== 0) throw new Error(`poseidon2: ${message.length} bytes are not whole elements`);
  let chaining = new Array<number>(8).fill(0);
  for (let start = 0; start < message.length; start += BLOCK_BYTES) {
    const bytes = message.subarray(start, start + BLOCK_BYTES);
    const block = readElements(bytes);
    while (block.length < 8) block.unshift(0);
    const state = [...chaining, ...block];
    permute(state);
    chaining = block.map((element, i) => ((state[8 + i] as number) + element) % P);
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
