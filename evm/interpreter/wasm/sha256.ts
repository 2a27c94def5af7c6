/** SHA-256 (FIPS 180-4). */
import {SCRATCH} from "./layout";

const ROUNDS: usize = memory.data<u32>([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
]);
const START: usize = memory.data<u32>([
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]);

const STATE: usize = SCRATCH + 1024;
const WORDS: usize = SCRATCH + 1056;
/** The last one or two blocks. */
const TAIL: usize = SCRATCH + 1312;

/** @param to - 32 bytes */
export function sha256(to: usize, from: usize, bytes: u32): void {
  memory.copy(STATE, START, 32);
  const whole = bytes & ~63;
  for (let at: u32 = 0; at < whole; at += 64) compress(from + at);
  const rest = bytes - whole;
  memory.fill(TAIL, 0, 128);
  memory.copy(TAIL, from + whole, rest);
  store<u8>(TAIL + rest, 0x80);
  const tail: usize = rest < 56 ? 64 : 128;
  store<u64>(TAIL + tail - 8, bswap<u64>((<u64>bytes) << 3));
  compress(TAIL);
  if (tail == 128) compress(TAIL + 64);
  for (let at: usize = 0; at < 32; at += 4) store<u32>(to + at, bswap<u32>(load<u32>(STATE + at)));
}

function compress(block: usize): void {
  for (let at: usize = 0; at < 64; at += 4) store<u32>(WORDS + at, bswap<u32>(load<u32>(block + at)));
  for (let at: usize = 64; at < 256; at += 4) {
    const a = load<u32>(WORDS + at - 60);
    const b = load<u32>(WORDS + at - 8);
    const s0 = rotr<u32>(a, 7) ^ rotr<u32>(a, 18) ^ (a >> 3);
    const s1 = rotr<u32>(b, 17) ^ rotr<u32>(b, 19) ^ (b >> 10);
    store<u32>(WORDS + at, load<u32>(WORDS + at - 64) + s0 + load<u32>(WORDS + at - 28) + s1);
  }
  let a = load<u32>(STATE);
  let b = load<u32>(STATE, 4);
  let c = load<u32>(STATE, 8);
  let d = load<u32>(STATE, 12);
  let e = load<u32>(STATE, 16);
  let f = load<u32>(STATE, 20);
  let g = load<u32>(STATE, 24);
  let h = load<u32>(STATE, 28);
  for (let at: usize = 0; at < 256; at += 4) {
    const s1 = rotr<u32>(e, 6) ^ rotr<u32>(e, 11) ^ rotr<u32>(e, 25);
    const t1 = h + s1 + ((e & f) ^ (~e & g)) + load<u32>(ROUNDS + at) + load<u32>(WORDS + at);
    const s0 = rotr<u32>(a, 2) ^ rotr<u32>(a, 13) ^ rotr<u32>(a, 22);
    const t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  store<u32>(STATE, load<u32>(STATE) + a);
  store<u32>(STATE, load<u32>(STATE, 4) + b, 4);
  store<u32>(STATE, load<u32>(STATE, 8) + c, 8);
  store<u32>(STATE, load<u32>(STATE, 12) + d, 12);
  store<u32>(STATE, load<u32>(STATE, 16) + e, 16);
  store<u32>(STATE, load<u32>(STATE, 20) + f, 20);
  store<u32>(STATE, load<u32>(STATE, 24) + g, 24);
  store<u32>(STATE, load<u32>(STATE, 28) + h, 28);
}
