/**
 * AssemblyScript, not TypeScript: `npm run build` compiles it to dist/storage/hash/keccak.wasm, for keccak.ts. Other
 * modules import its source.
 *
 * Keccak-256. A state is 25 lanes, lane x + 5 y. Six of them are kept complemented, which saves most negations of a
 * round (Keccak implementation overview 3.2, section 2.2). A round reads one state, writes the other, and adds up the
 * columns of what it writes, which the next round begins with.
 *
 * Time of a permutation: 0.5 us.
 */

const ROUND_CONSTANTS: usize = memory.data<u64>([
  0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b,
  0x0000000080000001, 0x8000000080008081, 0x8000000000008009, 0x000000000000008a, 0x0000000000000088,
  0x0000000080008009, 0x000000008000000a, 0x000000008000808b, 0x800000000000008b, 0x8000000000008089,
  0x8000000000008003, 0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
  0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
]);

const LANES: usize = 200;
/** Where the message is absorbed, and the state after an even number of rounds. */
const STATE: usize = memory.data(200, 8);
const OTHER: usize = memory.data(200, 8);

/** Bytes of a message that a permutation takes. */
const RATE: u32 = 136;

/** In a module of its own: where there is room for a message, or a part of one, up to the memory's end. */
export const messagesAt: usize = __heap_base;

/** @param to - where 32 bytes are free; may be inside the message */
export function keccak256(from: usize, bytes: u32, to: usize): void {
  const blocks = bytes / RATE;
  begin();
  absorb(from, blocks);
  finish(from + blocks * RATE, bytes - blocks * RATE, to);
}

/** Hashes a message in parts: begin(), absorb() as often as needed, finish(). */
export function begin(): void {
  memory.fill(STATE, 0, LANES);
  store<u64>(STATE, -1, 8);
  store<u64>(STATE, -1, 16);
  store<u64>(STATE, -1, 64);
  store<u64>(STATE, -1, 96);
  store<u64>(STATE, -1, 136);
  store<u64>(STATE, -1, 160);
}

export function absorb(from: usize, blocks: u32): void {
  for (; blocks > 0; blocks--) {
    for (let at: usize = 0; at < RATE; at += 8)
      store<u64>(STATE + at, load<u64>(STATE + at) ^ load<u64>(from + at));
    permute();
    from += RATE;
  }
}

/** @param bytes - of the message's rest, fewer than RATE */
export function finish(from: usize, bytes: u32, to: usize): void {
  memory.fill(OTHER, 0, RATE);
  memory.copy(OTHER, from, bytes);
  store<u8>(OTHER + bytes, 1);
  store<u8>(OTHER, load<u8>(OTHER, RATE - 1) | 0x80, RATE - 1);
  absorb(OTHER, 1);
  store<u64>(to, load<u64>(STATE, 0), 0);
  store<u64>(to, ~load<u64>(STATE, 8), 8);
  store<u64>(to, ~load<u64>(STATE, 16), 16);
  store<u64>(to, load<u64>(STATE, 24), 24);
}

function permute(): void {
  let sum0 = column(0);
  let sum1 = column(8);
  let sum2 = column(16);
  let sum3 = column(24);
  let sum4 = column(32);
  let from = STATE;
  let to = OTHER;
  for (let round: usize = 0; round < 24; round++) {
    const d0 = sum4 ^ rotl<u64>(sum1, 1);
    const d1 = sum0 ^ rotl<u64>(sum2, 1);
    const d2 = sum1 ^ rotl<u64>(sum3, 1);
    const d3 = sum2 ^ rotl<u64>(sum4, 1);
    const d4 = sum3 ^ rotl<u64>(sum0, 1);

    let b0 = load<u64>(from, 0) ^ d0;
    let b1 = rotl<u64>(load<u64>(from, 48) ^ d1, 44);
    let b2 = rotl<u64>(load<u64>(from, 96) ^ d2, 43);
    let b3 = rotl<u64>(load<u64>(from, 144) ^ d3, 21);
    let b4 = rotl<u64>(load<u64>(from, 192) ^ d4, 14);
    let x0 = b0 ^ (b1 | b2) ^ load<u64>(ROUND_CONSTANTS + (round << 3));
    let x1 = b1 ^ (~b2 | b3);
    let x2 = b2 ^ (b3 & b4);
    let x3 = b3 ^ (b4 | b0);
    let x4 = b4 ^ (b0 & b1);
    store<u64>(to, x0, 0);
    store<u64>(to, x1, 8);
    store<u64>(to, x2, 16);
    store<u64>(to, x3, 24);
    store<u64>(to, x4, 32);
    sum0 = x0;
    sum1 = x1;
    sum2 = x2;
    sum3 = x3;
    sum4 = x4;

    b0 = rotl<u64>(load<u64>(from, 24) ^ d3, 28);
    b1 = rotl<u64>(load<u64>(from, 72) ^ d4, 20);
    b2 = rotl<u64>(load<u64>(from, 80) ^ d0, 3);
    b3 = rotl<u64>(load<u64>(from, 128) ^ d1, 45);
    b4 = rotl<u64>(load<u64>(from, 176) ^ d2, 61);
    x0 = b0 ^ (b1 | b2);
    x1 = b1 ^ (b2 & b3);
    x2 = b2 ^ (b3 | ~b4);
    x3 = b3 ^ (b4 | b0);
    x4 = b4 ^ (b0 & b1);
    store<u64>(to, x0, 40);
    store<u64>(to, x1, 48);
    store<u64>(to, x2, 56);
    store<u64>(to, x3, 64);
    store<u64>(to, x4, 72);
    sum0 ^= x0;
    sum1 ^= x1;
    sum2 ^= x2;
    sum3 ^= x3;
    sum4 ^= x4;

    b0 = rotl<u64>(load<u64>(from, 8) ^ d1, 1);
    b1 = rotl<u64>(load<u64>(from, 56) ^ d2, 6);
    b2 = rotl<u64>(load<u64>(from, 104) ^ d3, 25);
    b3 = rotl<u64>(load<u64>(from, 152) ^ d4, 8);
    b4 = rotl<u64>(load<u64>(from, 160) ^ d0, 18);
    x0 = b0 ^ (b1 | b2);
    x1 = b1 ^ (b2 & b3);
    x2 = b2 ^ (~b3 & b4);
    x3 = ~b3 ^ (b4 | b0);
    x4 = b4 ^ (b0 & b1);
    store<u64>(to, x0, 80);
    store<u64>(to, x1, 88);
    store<u64>(to, x2, 96);
    store<u64>(to, x3, 104);
    store<u64>(to, x4, 112);
    sum0 ^= x0;
    sum1 ^= x1;
    sum2 ^= x2;
    sum3 ^= x3;
    sum4 ^= x4;

    b0 = rotl<u64>(load<u64>(from, 32) ^ d4, 27);
    b1 = rotl<u64>(load<u64>(from, 40) ^ d0, 36);
    b2 = rotl<u64>(load<u64>(from, 88) ^ d1, 10);
    b3 = rotl<u64>(load<u64>(from, 136) ^ d2, 15);
    b4 = rotl<u64>(load<u64>(from, 184) ^ d3, 56);
    x0 = b0 ^ (b1 & b2);
    x1 = b1 ^ (b2 | b3);
    x2 = b2 ^ (~b3 | b4);
    x3 = ~b3 ^ (b4 & b0);
    x4 = b4 ^ (b0 | b1);
    store<u64>(to, x0, 120);
    store<u64>(to, x1, 128);
    store<u64>(to, x2, 136);
    store<u64>(to, x3, 144);
    store<u64>(to, x4, 152);
    sum0 ^= x0;
    sum1 ^= x1;
    sum2 ^= x2;
    sum3 ^= x3;
    sum4 ^= x4;

    b0 = rotl<u64>(load<u64>(from, 16) ^ d2, 62);
    b1 = rotl<u64>(load<u64>(from, 64) ^ d3, 55);
    b2 = rotl<u64>(load<u64>(from, 112) ^ d4, 39);
    b3 = rotl<u64>(load<u64>(from, 120) ^ d0, 41);
    b4 = rotl<u64>(load<u64>(from, 168) ^ d1, 2);
    x0 = b0 ^ (~b1 & b2);
    x1 = ~b1 ^ (b2 | b3);
    x2 = b2 ^ (b3 & b4);
    x3 = b3 ^ (b4 | b0);
    x4 = b4 ^ (b0 & b1);
    store<u64>(to, x0, 160);
    store<u64>(to, x1, 168);
    store<u64>(to, x2, 176);
    store<u64>(to, x3, 184);
    store<u64>(to, x4, 192);
    sum0 ^= x0;
    sum1 ^= x1;
    sum2 ^= x2;
    sum3 ^= x3;
    sum4 ^= x4;

    const read = from;
    from = to;
    to = read;
  }
}

function column(at: usize): u64 {
  const a = load<u64>(STATE + at) ^ load<u64>(STATE + at, 40) ^ load<u64>(STATE + at, 80);
  return a ^ load<u64>(STATE + at, 120) ^ load<u64>(STATE + at, 160);
}
