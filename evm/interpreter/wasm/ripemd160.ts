/** RIPEMD-160 (Dobbertin, Bosselaers, Preneel: "RIPEMD-160, a strengthened version of RIPEMD"). */
import {SCRATCH} from "./layout";

/** Which word of the block each step takes, and by how much it rotates: the left line, then the right one. */
const LEFT_WORDS: usize = memory.data<u8>([
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 7, 4, 13, 1, 10, 6, 15, 3, 12, 0, 9, 5, 2, 14, 11, 8,
  3, 10, 14, 4, 9, 15, 8, 1, 2, 7, 0, 6, 13, 11, 5, 12, 1, 9, 11, 10, 0, 8, 12, 4, 13, 3, 7, 15, 14, 5, 6, 2,
  4, 0, 5, 9, 7, 12, 2, 10, 14, 1, 3, 8, 11, 6, 15, 13,
]);
const RIGHT_WORDS: usize = memory.data<u8>([
  5, 14, 7, 0, 9, 2, 11, 4, 13, 6, 15, 8, 1, 10, 3, 12, 6, 11, 3, 7, 0, 13, 5, 10, 14, 15, 8, 12, 4, 9, 1, 2,
  15, 5, 1, 3, 7, 14, 6, 9, 11, 8, 12, 2, 10, 0, 4, 13, 8, 6, 4, 1, 3, 11, 15, 0, 5, 12, 2, 13, 9, 7, 10, 14,
  12, 15, 10, 4, 1, 5, 8, 7, 6, 2, 13, 14, 0, 3, 9, 11,
]);
const LEFT_ROTATIONS: usize = memory.data<u8>([
  11, 14, 15, 12, 5, 8, 7, 9, 11, 13, 14, 15, 6, 7, 9, 8, 7, 6, 8, 13, 11, 9, 7, 15, 7, 12, 15, 9, 11, 7, 13,
  12, 11, 13, 6, 7, 14, 9, 13, 15, 14, 8, 13, 6, 5, 12, 7, 5, 11, 12, 14, 15, 14, 15, 9, 8, 9, 14, 5, 6, 8, 6,
  5, 12, 9, 15, 5, 11, 6, 8, 13, 12, 5, 12, 13, 14, 11, 8, 5, 6,
]);
const RIGHT_ROTATIONS: usize = memory.data<u8>([
  8, 9, 9, 11, 13, 15, 15, 5, 7, 7, 8, 11, 14, 14, 12, 6, 9, 13, 15, 7, 12, 8, 9, 11, 7, 7, 12, 7, 6, 15, 13,
  11, 9, 7, 15, 11, 8, 6, 6, 14, 12, 13, 5, 14, 13, 13, 7, 5, 15, 5, 8, 11, 14, 14, 6, 14, 6, 9, 12, 9, 12, 5,
  15, 8, 8, 5, 12, 9, 12, 5, 14, 6, 8, 13, 6, 5, 15, 13, 11, 11,
]);
const LEFT_CONSTANTS: usize = memory.data<u32>([0, 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xa953fd4e]);
const RIGHT_CONSTANTS: usize = memory.data<u32>([0x50a28be6, 0x5c4dd124, 0x6d703ef3, 0x7a6d76e9, 0]);
const START: usize = memory.data<u32>([0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]);

const STATE: usize = SCRATCH + 1536;
const LINE: usize = SCRATCH + 1568;
const TAIL: usize = SCRATCH + 1600;

/** @param to - 20 bytes */
export function ripemd160(to: usize, from: usize, bytes: u32): void {
  memory.copy(STATE, START, 20);
  const whole = bytes & ~63;
  for (let at: u32 = 0; at < whole; at += 64) compress(from + at);
  const rest = bytes - whole;
  memory.fill(TAIL, 0, 128);
  memory.copy(TAIL, from + whole, rest);
  store<u8>(TAIL + rest, 0x80);
  const tail: usize = rest < 56 ? 64 : 128;
  store<u64>(TAIL + tail - 8, (<u64>bytes) << 3);
  compress(TAIL);
  if (tail == 128) compress(TAIL + 64);
  memory.copy(to, STATE, 20);
}

function mix(kind: u32, x: u32, y: u32, z: u32): u32 {
  if (kind == 0) return x ^ y ^ z;
  if (kind == 1) return (x & y) | (~x & z);
  if (kind == 2) return (x | ~y) ^ z;
  if (kind == 3) return (x & z) | (y & ~z);
  return x ^ (y | ~z);
}

/** The line's five words go to LINE. */
function runLine(block: usize, words: usize, rotations: usize, constants: usize, isRight: bool): void {
  let a = load<u32>(STATE);
  let b = load<u32>(STATE, 4);
  let c = load<u32>(STATE, 8);
  let d = load<u32>(STATE, 12);
  let e = load<u32>(STATE, 16);
  for (let step: u32 = 0; step < 80; step++) {
    const round = step >> 4;
    const word = load<u32>(block + 4 * load<u8>(words + step));
    const sum = a + mix(isRight ? 4 - round : round, b, c, d) + word + load<u32>(constants + 4 * round);
    const next = rotl<u32>(sum, load<u8>(rotations + step)) + e;
    a = e;
    e = d;
    d = rotl<u32>(c, 10);
    c = b;
    b = next;
  }
  store<u32>(LINE, a);
  store<u32>(LINE, b, 4);
  store<u32>(LINE, c, 8);
  store<u32>(LINE, d, 12);
  store<u32>(LINE, e, 16);
}

function compress(block: usize): void {
  runLine(block, LEFT_WORDS, LEFT_ROTATIONS, LEFT_CONSTANTS, false);
  const a = load<u32>(LINE);
  const b = load<u32>(LINE, 4);
  const c = load<u32>(LINE, 8);
  const d = load<u32>(LINE, 12);
  const e = load<u32>(LINE, 16);
  runLine(block, RIGHT_WORDS, RIGHT_ROTATIONS, RIGHT_CONSTANTS, true);
  const first = load<u32>(STATE, 4) + c + load<u32>(LINE, 12);
  store<u32>(STATE, load<u32>(STATE, 8) + d + load<u32>(LINE, 16), 4);
  store<u32>(STATE, load<u32>(STATE, 12) + e + load<u32>(LINE), 8);
  store<u32>(STATE, load<u32>(STATE, 16) + a + load<u32>(LINE, 4), 12);
  store<u32>(STATE, load<u32>(STATE) + b + load<u32>(LINE, 8), 16);
  store<u32>(STATE, first);
}
