/**
 * AssemblyScript, not TypeScript: `npm run build` compiles it to dist/storage/hash/poseidon2.wasm, for poseidon2.ts.
 *
 * Poseidon2 over KoalaBear (docs/proofs.md), in two arrangements:
 *
 *   four messages   a vector has the same lane of four states: 16 vectors        4 permutations take as long as 1.5 alone
 *   one message     a vector has four lanes of one state: 4 vectors              for what comes alone: keys, code, leaves
 *
 *   memory   round constants, 6 * 16 + 21 u32 | diagonal, 16 u32 | state, 16 vectors | saved block, 8 vectors | messages and digests
 *
 * Elements of the state are in Montgomery form, x * 2^32 mod p, and below p between any two steps.
 */
import {swapBytes, transpose} from "./parts/lanes";

/** 2^31 - 2^24 + 1. */
const P: i32 = 2130706433;
/** -1 / p mod 2^32. */
const NEGATIVE_INVERSE: i32 = 2130706431;
/** 2^64 mod p: takes an element into Montgomery form. */
const R_SQUARED: i32 = 402124772;

/** (p + 1) / 2. */
const HALF: i32 = 1065353217;

const CONSTANTS: usize = 0;
const FULL_ROUNDS_EACH: usize = 3;
const PARTIAL_ROUNDS: usize = 21;
const DIAGONAL: usize = 480;
const STATE: usize = 576;
const SAVED: usize = 832;
const MESSAGES: usize = 1024;

const WORD_BYTES: usize = 32;

function add(a: v128, b: v128): v128 {
  const sum = i32x4.add(a, b);
  return i32x4.min_u(sum, i32x4.sub(sum, i32x4.splat(P)));
}

function sub(a: v128, b: v128): v128 {
  const difference = i32x4.sub(a, b);
  return i32x4.min_u(difference, i32x4.add(difference, i32x4.splat(P)));
}

/** a * b / 2^32 */
function multiply(a: v128, b: v128): v128 {
  const low = i64x2.extmul_low_i32x4_u(a, b);
  const high = i64x2.extmul_high_i32x4_u(a, b);
  const factor = i32x4.mul(v128.shuffle<i32>(low, high, 0, 2, 4, 6), i32x4.splat(NEGATIVE_INVERSE));
  const lowSum = i64x2.add(low, i64x2.extmul_low_i32x4_u(factor, i32x4.splat(P)));
  const highSum = i64x2.add(high, i64x2.extmul_high_i32x4_u(factor, i32x4.splat(P)));
  const product = v128.shuffle<i32>(lowSum, highSum, 1, 3, 5, 7);
  return i32x4.min_u(product, i32x4.sub(product, i32x4.splat(P)));
}

function cube(x: v128): v128 {
  return multiply(multiply(x, x), x);
}

function double(x: v128): v128 {
  return add(x, x);
}

function halve(x: v128): v128 {
  const odd = i32x4.neg(v128.and(x, i32x4.splat(1)));
  return i32x4.add(i32x4.shr_u(x, 1), v128.and(odd, i32x4.splat(HALF)));
}

/** x / 2^bits, at most 24: high - low * (p - 1) / 2^bits with x = high * 2^bits + low, since p - 1 = 127 * 2^24. */
function divide(x: v128, bits: i32): v128 {
  const low = v128.and(x, i32x4.splat((1 << bits) - 1));
  return sub(i32x4.shr_u(x, bits), i32x4.mul(low, i32x4.splat(127 << (24 - bits))));
}

function lane(index: usize): v128 {
  return v128.load(STATE + (index << 4));
}

function setLane(index: usize, x: v128): void {
  v128.store(STATE + (index << 4), x);
}

/** circ(2 M4, M4, M4, M4): M4 on each group of four lanes, then the sum of the groups on each. */
function multiplyExternal(): void {
  for (let at: usize = STATE; at < STATE + 256; at += 64) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    const total = add(add(a, b), add(c, d));
    v128.store(at, add(add(total, a), double(b)));
    v128.store(at, add(add(total, b), double(c)), 16);
    v128.store(at, add(add(total, c), double(d)), 32);
    v128.store(at, add(add(total, d), double(a)), 48);
  }
  for (let i: usize = 0; i < 4; i++) {
    const sum = add(add(lane(i), lane(i + 4)), add(lane(i + 8), lane(i + 12)));
    setLane(i, add(lane(i), sum));
    setLane(i + 4, add(lane(i + 4), sum));
    setLane(i + 8, add(lane(i + 8), sum));
    setLane(i + 12, add(lane(i + 12), sum));
  }
}

/** @returns where the constants of the next round are */
function fullRounds(constants: usize): usize {
  for (const end = constants + FULL_ROUNDS_EACH * 64; constants < end; constants += 64) {
    for (let i: usize = 0; i < 16; i++)
      setLane(i, cube(add(lane(i), v128.load32_splat(constants + (i << 2)))));
    multiplyExternal();
  }
  return constants;
}

/** @returns where the constants of the next round are */
function partialRounds(constants: usize): usize {
  for (const end = constants + PARTIAL_ROUNDS * 4; constants < end; constants += 4) {
    // Without lane 0, which waits for its cube.
    const others = add(
      add(
        add(add(lane(1), lane(2)), add(lane(3), lane(4))),
        add(add(lane(5), lane(6)), add(lane(7), lane(8))),
      ),
      add(add(add(lane(9), lane(10)), add(lane(11), lane(12))), add(add(lane(13), lane(14)), lane(15))),
    );
    const x0 = cube(add(lane(0), v128.load32_splat(constants)));
    const sum = add(others, x0);
    setLane(0, sub(others, x0));
    setLane(1, add(sum, lane(1)));
    setLane(2, add(sum, double(lane(2))));
    setLane(3, add(sum, halve(lane(3))));
    setLane(4, add(sum, add(double(lane(4)), lane(4))));
    setLane(5, add(sum, double(double(lane(5)))));
    setLane(6, sub(sum, halve(lane(6))));
    setLane(7, sub(sum, add(double(lane(7)), lane(7))));
    setLane(8, sub(sum, double(double(lane(8)))));
    setLane(9, add(sum, divide(lane(9), 8)));
    setLane(10, add(sum, divide(lane(10), 3)));
    setLane(11, add(sum, divide(lane(11), 24)));
    setLane(12, sub(sum, divide(lane(12), 8)));
    setLane(13, sub(sum, divide(lane(13), 3)));
    setLane(14, sub(sum, divide(lane(14), 4)));
    setLane(15, sub(sum, divide(lane(15), 24)));
  }
  return constants;
}

function permute(): void {
  multiplyExternal();
  fullRounds(partialRounds(fullRounds(CONSTANTS)));
}

/** Four elements of a message, in Montgomery form. */
function readElements(at: usize): v128 {
  return multiply(swapBytes(v128.load(at)), i32x4.splat(R_SQUARED));
}

/** The bytes of four elements. */
function writtenElements(x: v128): v128 {
  return swapBytes(multiply(x, i32x4.splat(1)));
}

/** Reads four elements of each of four messages, `stride` apart, into as many lanes at `to`. */
function loadLanes(at: usize, stride: usize, to: usize): void {
  const c = readElements(at + 2 * stride);
  transpose(readElements(at), readElements(at + stride), c, readElements(at + 3 * stride), to, 16);
}

/** Writes the four lanes from `first` as elements of four digests. */
function storeLanes(first: usize, to: usize): void {
  const a = writtenElements(lane(first));
  const b = writtenElements(lane(first + 1));
  transpose(a, b, writtenElements(lane(first + 2)), writtenElements(lane(first + 3)), to, WORD_BYTES);
}

/** Where the round constants belong: in the order of their use, Montgomery form. */
export const constantsAt: usize = CONSTANTS;

/** Where the diagonal of the internal matrix belongs: d of each lane, Montgomery form. */
export const diagonalAt: usize = DIAGONAL;

export const messagesAt: usize = MESSAGES;

/**
 * Hashes `count` messages of `blocks` blocks of 32 bytes, back to back at `from`; elements are big-endian, below p.
 * Three are hashed as four, with what follows them. @param to - where 32 bytes for each, rounded up to fours, are free
 */
export function hashMessages(from: usize, count: usize, blocks: usize, to: usize): void {
  const stride = blocks * WORD_BYTES;
  while (count > 2) {
    memory.fill(STATE, 0, 128);
    for (let block: usize = 0; block < blocks; block++) {
      const at = from + block * WORD_BYTES;
      loadLanes(at, stride, STATE + 128);
      loadLanes(at + 16, stride, STATE + 192);
      memory.copy(SAVED, STATE + 128, 128);
      permute();
      // The block is added to the upper half of the permuted state, which is then the lower one.
      for (let k: usize = 0; k < 8; k++) setLane(k, add(lane(8 + k), v128.load(SAVED + (k << 4))));
    }
    storeLanes(0, to);
    storeLanes(4, to + 16);
    if (count <= 4) return;
    count -= 4;
    from += 4 * stride;
    to += 4 * WORD_BYTES;
  }
  for (; count > 0; count--) {
    begin();
    absorb(from, blocks);
    finish(to);
    from += stride;
    to += WORD_BYTES;
  }
}

/** M4 on the four lanes of a vector. */
function multiplyM4(x: v128): v128 {
  const next = v128.shuffle<i32>(x, x, 1, 2, 3, 0);
  const pairs = add(x, next);
  const total = add(pairs, v128.shuffle<i32>(pairs, pairs, 2, 3, 0, 1));
  return add(add(total, x), double(next));
}

/** circ(2 M4, M4, M4, M4) on one state. */
function multiplyExternalOne(): void {
  const x0 = multiplyM4(lane(0));
  const x1 = multiplyM4(lane(1));
  const x2 = multiplyM4(lane(2));
  const x3 = multiplyM4(lane(3));
  const sum = add(add(x0, x1), add(x2, x3));
  setLane(0, add(x0, sum));
  setLane(1, add(x1, sum));
  setLane(2, add(x2, sum));
  setLane(3, add(x3, sum));
}

/** @returns where the constants of the next round are */
function fullRoundsOne(constants: usize): usize {
  for (const end = constants + FULL_ROUNDS_EACH * 64; constants < end; constants += 64) {
    for (let i: usize = 0; i < 4; i++) setLane(i, cube(add(lane(i), v128.load(constants + (i << 4)))));
    multiplyExternalOne();
  }
  return constants;
}

function multiplyOne(a: u64, b: u64): u64 {
  const product = a * b;
  const factor = <u64>(<u32>product * <u32>NEGATIVE_INVERSE);
  const reduced = (product + factor * P) >> 32;
  return reduced >= <u64>P ? reduced - P : reduced;
}

/** @returns where the constants of the next round are */
function partialRoundsOne(constants: usize): usize {
  // Lane 0 is computed apart, and is 0 in its vector.
  const others = i32x4(0, -1, -1, -1);
  let x: u64 = i32x4.extract_lane(lane(0), 0);
  let x0 = v128.and(lane(0), others);
  let x1 = lane(1);
  let x2 = lane(2);
  let x3 = lane(3);
  for (const end = constants + PARTIAL_ROUNDS * 4; constants < end; constants += 4) {
    let rest = add(add(x0, x1), add(x2, x3));
    rest = add(rest, v128.shuffle<i32>(rest, rest, 2, 3, 0, 1));
    rest = add(rest, v128.shuffle<i32>(rest, rest, 1, 0, 3, 2));
    const base = x + load<u32>(constants);
    const reduced = base >= <u64>P ? base - P : base;
    x = multiplyOne(multiplyOne(reduced, reduced), reduced);
    const sum = add(rest, i32x4.splat(<i32>x));
    const restOne: u64 = <u32>i32x4.extract_lane(rest, 0);
    x = restOne >= x ? restOne - x : restOne + P - x;
    x0 = v128.and(add(sum, multiply(x0, v128.load(DIAGONAL))), others);
    x1 = add(sum, multiply(x1, v128.load(DIAGONAL, 16)));
    x2 = add(sum, multiply(x2, v128.load(DIAGONAL, 32)));
    x3 = add(sum, multiply(x3, v128.load(DIAGONAL, 48)));
  }
  setLane(0, i32x4.replace_lane(x0, 0, <i32>x));
  setLane(1, x1);
  setLane(2, x2);
  setLane(3, x3);
  return constants;
}

export function begin(): void {
  memory.fill(STATE, 0, 32);
}

/** Takes the next `blocks` blocks of the message that `begin` began, from `from`. */
export function absorb(from: usize, blocks: usize): void {
  for (const end = from + blocks * WORD_BYTES; from < end; from += WORD_BYTES) {
    const low = readElements(from);
    const high = readElements(from + 16);
    setLane(2, low);
    setLane(3, high);
    multiplyExternalOne();
    fullRoundsOne(partialRoundsOne(fullRoundsOne(CONSTANTS)));
    setLane(0, add(lane(2), low));
    setLane(1, add(lane(3), high));
  }
}

/** Ends the message: its digest, 32 bytes, goes to `to`. */
export function finish(to: usize): void {
  v128.store(to, writtenElements(lane(0)));
  v128.store(to, writtenElements(lane(1)), 16);
}
