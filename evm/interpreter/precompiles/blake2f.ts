/**
 * The compression function of BLAKE2b with a variable number of rounds (EIP-152, RFC 7693).
 *
 *   rounds 4 (big-endian) | state 64 | message 128 | offset 16 | final block flag 1
 *
 * Each 64-bit number is stored as two of 32 bits, the lower half first.
 */
import {readNumber} from "./numbers.ts";
import {type Precompile, require} from "./precompile.ts";

const INPUT_BYTES = 213;
const STATE_AT = 4;
const MESSAGE_AT = 68;
const OFFSET_AT = 196;
const LAST_AT = 212;
/** These take less than 1 ms. */
const ROUNDS_PER_PART = 2048;

const START = Uint32Array.of(
  ...[0xf3bcc908, 0x6a09e667, 0x84caa73b, 0xbb67ae85, 0xfe94f82b, 0x3c6ef372, 0x5f1d36f1, 0xa54ff53a],
  ...[0xade682d1, 0x510e527f, 0x2b3e6c1f, 0x9b05688c, 0xfb41bd6b, 0x1f83d9ab, 0x137e2179, 0x5be0cd19],
);

/** Message word permutations of the ten rounds (SIGMA in RFC 7693). */
const WORDS = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
  [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
  [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
  [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
  [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
].map(words => Uint8Array.from(words));

export const blake2f: Precompile = {
  price: data => (data.length === INPUT_BYTES ? readNumber(data, 0, STATE_AT) : 0n),

  *run(data) {
    require(data.length === INPUT_BYTES, `expected ${INPUT_BYTES} bytes`);
    const isLast = data[LAST_AT] as number;
    require(isLast <= 1, "the final block flag is neither 0 nor 1");
    const input = new DataView(data.buffer, data.byteOffset, data.length);
    const rounds = input.getUint32(0);
    const read = (at: number, count: number): Uint32Array =>
      Uint32Array.from({length: count}, (_, i) => input.getUint32(at + 4 * i, true));
    const state = read(STATE_AT, 16);
    const message = read(MESSAGE_AT, 32);
    const v = new Uint32Array(32);
    v.set(state);
    v.set(START, 16);
    for (const [i, offset] of read(OFFSET_AT, 4).entries()) v[24 + i] = (v[24 + i] as number) ^ offset;
    for (const i of [28, 29]) v[i] = (v[i] as number) ^ -isLast;
    for (let round = 0; round < rounds; round++) {
      if (round % ROUNDS_PER_PART === ROUNDS_PER_PART - 1) yield "short";
      mixRound(v, message, WORDS[round % 10] as Uint8Array);
    }
    const output = new DataView(new ArrayBuffer(64));
    for (let i = 0; i < 16; i++)
      output.setUint32(4 * i, (state[i] as number) ^ (v[i] as number) ^ (v[i + 16] as number), true);
    return new Uint8Array(output.buffer);
  },
};

function mixRound(v: Uint32Array, message: Uint32Array, words: Uint8Array): void {
  mix(v, 0, 8, 16, 24, message, 2 * (words[0] as number), 2 * (words[1] as number));
  mix(v, 2, 10, 18, 26, message, 2 * (words[2] as number), 2 * (words[3] as number));
  mix(v, 4, 12, 20, 28, message, 2 * (words[4] as number), 2 * (words[5] as number));
  mix(v, 6, 14, 22, 30, message, 2 * (words[6] as number), 2 * (words[7] as number));
  mix(v, 0, 10, 20, 30, message, 2 * (words[8] as number), 2 * (words[9] as number));
  mix(v, 2, 12, 22, 24, message, 2 * (words[10] as number), 2 * (words[11] as number));
  mix(v, 4, 14, 16, 26, message, 2 * (words[12] as number), 2 * (words[13] as number));
  mix(v, 6, 8, 18, 28, message, 2 * (words[14] as number), 2 * (words[15] as number));
}

/** The mixing function G. @param x, y - positions of the two message words */
function mix(
  v: Uint32Array,
  a: number,
  b: number,
  c: number,
  d: number,
  message: Uint32Array,
  x: number,
  y: number,
): void {
  add(v, a, v, b);
  add(v, a, message, x);
  xorRotate(v, d, a, 32);
  add(v, c, v, d);
  xorRotate(v, b, c, 24);
  add(v, a, v, b);
  add(v, a, message, y);
  xorRotate(v, d, a, 16);
  add(v, c, v, d);
  xorRotate(v, b, c, 63);
}

function add(v: Uint32Array, to: number, from: Uint32Array, at: number): void {
  const low = (v[to] as number) + (from[at] as number);
  v[to] = low;
  v[to + 1] = (v[to + 1] as number) + (from[at + 1] as number) + (low > 0xffff_ffff ? 1 : 0);
}

/** v[to] = (v[to] xor v[from]) rotated right. */
function xorRotate(v: Uint32Array, to: number, from: number, bits: 16 | 24 | 32 | 63): void {
  const low = (v[to] as number) ^ (v[from] as number);
  const high = (v[to + 1] as number) ^ (v[from + 1] as number);
  if (bits === 32) {
    v[to] = high;
    v[to + 1] = low;
  } else if (bits === 63) {
    v[to] = (high >>> 31) | (low << 1);
    v[to + 1] = (low >>> 31) | (high << 1);
  } else {
    v[to] = (low >>> bits) | (high << (32 - bits));
    v[to + 1] = (high >>> bits) | (low << (32 - bits));
  }
}
