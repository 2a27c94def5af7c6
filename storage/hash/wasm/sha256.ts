/**
 * AssemblyScript, not TypeScript: `npm run build` compiles it to dist/storage/hash/sha256.wasm, for sha256.ts.
 *
 * SHA-256 (FIPS 180-4) of four messages of the same length at once: a vector has the same word of each of them. The
 * last block, which is the padding alone, is the same for all messages of a length, and so is its schedule.
 */
import {swapBytes, transpose} from "./parts/lanes";

/** Fractional parts of cube roots and square roots of primes. */
const ROUND_CONSTANTS: usize = memory.data<u32>([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
]);
const FIRST_STATE: usize = memory.data<u32>([
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]);

const BLOCK_BYTES: usize = 64;
const DIGEST_BYTES: usize = 32;
const LANES: u32 = 4;
/** Of 64 vectors. */
const SCHEDULE_BYTES: usize = 1024;

const STATE: usize = memory.data(128, 16);
const SCHEDULE: usize = memory.data(1024, 16);
const PADDING: usize = memory.data(1024, 16);
/** Bytes of the messages that have this padding. */
let paddedBytes: u32 = 0;

export const messagesAt: usize = (__heap_base + 15) & ~15;

/** Hashes messages at messagesAt, back to back. @param bytes - of each, a multiple of 64. Digests replace the messages */
export function hashMessages(count: u32, bytes: u32): void {
  if (paddedBytes !== bytes) writePadding(bytes);
  let to = messagesAt;
  for (let first: u32 = 0; first < count; first += LANES) {
    for (let word: usize = 0; word < 8; word++)
      v128.store(STATE + (word << 4), v128.load32_splat(FIRST_STATE + (word << 2)));
    const from = messagesAt + first * bytes;
    for (let at = from; at < from + bytes; at += BLOCK_BYTES) {
      loadBlocks(at, bytes);
      expand();
      compress(SCHEDULE);
    }
    compress(PADDING);
    storeDigests(to, STATE);
    storeDigests(to + 16, STATE + 64);
    to += LANES * DIGEST_BYTES;
  }
}

function writePadding(bytes: u32): void {
  memory.fill(SCHEDULE, 0, 256);
  v128.store(SCHEDULE, i32x4.splat(0x80000000));
  v128.store(SCHEDULE, i32x4.splat(8 * bytes), 240);
  expand();
  memory.copy(PADDING, SCHEDULE, SCHEDULE_BYTES);
  paddedBytes = bytes;
}

/** The next block of each message, into the first 16 vectors of the schedule. */
function loadBlocks(from: usize, bytes: usize): void {
  for (let to = SCHEDULE; to < SCHEDULE + 256; to += 64) {
    transpose(
      swapBytes(v128.load(from)),
      swapBytes(v128.load(from + bytes)),
      swapBytes(v128.load(from + 2 * bytes)),
      swapBytes(v128.load(from + 3 * bytes)),
      to,
      16,
    );
    from += 16;
  }
}

function storeDigests(to: usize, state: usize): void {
  transpose(
    swapBytes(v128.load(state)),
    swapBytes(v128.load(state, 16)),
    swapBytes(v128.load(state, 32)),
    swapBytes(v128.load(state, 48)),
    to,
    DIGEST_BYTES,
  );
}

/** Makes the schedule of 64 vectors from its first 16, and adds the round constants. */
function expand(): void {
  for (let at = SCHEDULE; at < SCHEDULE + 768; at += 16) {
    const w1 = v128.load(at, 16);
    const w14 = v128.load(at, 224);
    const sum0 = v128.xor(rotate(w1, 7, 18), i32x4.shr_u(w1, 3));
    const sum1 = v128.xor(rotate(w14, 17, 19), i32x4.shr_u(w14, 10));
    v128.store(at, i32x4.add(i32x4.add(v128.load(at), sum0), i32x4.add(v128.load(at, 144), sum1)), 256);
  }
  for (let i: usize = 0; i < 64; i++) {
    const at = SCHEDULE + (i << 4);
    v128.store(at, i32x4.add(v128.load(at), v128.load32_splat(ROUND_CONSTANTS + (i << 2))));
  }
}

/** Both rotations to the right, added without carry. */
function rotate(x: v128, a: i32, b: i32): v128 {
  return v128.xor(
    v128.xor(i32x4.shr_u(x, a), i32x4.shl(x, 32 - a)),
    v128.xor(i32x4.shr_u(x, b), i32x4.shl(x, 32 - b)),
  );
}

function compress(schedule: usize): void {
  let a = v128.load(STATE);
  let b = v128.load(STATE, 16);
  let c = v128.load(STATE, 32);
  let d = v128.load(STATE, 48);
  let e = v128.load(STATE, 64);
  let f = v128.load(STATE, 80);
  let g = v128.load(STATE, 96);
  let h = v128.load(STATE, 112);
  for (let at = schedule; at < schedule + SCHEDULE_BYTES; at += 16) {
    const next = choose(e, f, g, h, v128.load(at));
    const first = i32x4.add(next, majority(a, b, c));
    h = g;
    g = f;
    f = e;
    e = i32x4.add(d, next);
    d = c;
    c = b;
    b = a;
    a = first;
  }
  addToState(0, a, b, c, d);
  addToState(64, e, f, g, h);
}

/** h + sum1(e) + choice of f or g by e + word */
function choose(e: v128, f: v128, g: v128, h: v128, word: v128): v128 {
  const sum = v128.xor(rotate(e, 6, 11), v128.xor(i32x4.shr_u(e, 25), i32x4.shl(e, 7)));
  const choice = v128.xor(g, v128.and(e, v128.xor(f, g)));
  return i32x4.add(i32x4.add(h, word), i32x4.add(sum, choice));
}

/** sum0(a) + majority of a, b and c */
function majority(a: v128, b: v128, c: v128): v128 {
  const sum = v128.xor(rotate(a, 2, 13), v128.xor(i32x4.shr_u(a, 22), i32x4.shl(a, 10)));
  return i32x4.add(sum, v128.xor(b, v128.and(v128.xor(a, b), v128.xor(b, c))));
}

function addToState(from: usize, a: v128, b: v128, c: v128, d: v128): void {
  const at = STATE + from;
  v128.store(at, i32x4.add(v128.load(at), a));
  v128.store(at, i32x4.add(v128.load(at, 16), b), 16);
  v128.store(at, i32x4.add(v128.load(at, 32), c), 32);
  v128.store(at, i32x4.add(v128.load(at, 48), d), 48);
}
