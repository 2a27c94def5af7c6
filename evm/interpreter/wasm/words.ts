/** 256-bit words in linear memory: four u64, least significant first. A result may overwrite an operand. */

import {copyWord, sameWord} from "../../../storage/hash/wasm/parts/word";

export {copyWord, sameWord};

export const ZERO: usize = memory.data(32);

export function setWord(to: usize, value: u64): void {
  store<u64>(to, value);
  store<u64>(to, 0, 8);
  v128.store(to, i64x2(0, 0), 16);
}

export function isZero(at: usize): bool {
  return (load<u64>(at) | load<u64>(at, 8) | load<u64>(at, 16) | load<u64>(at, 24)) == 0;
}

/** True if the word is below 2^64. */
export function isShort(at: usize): bool {
  return (load<u64>(at, 8) | load<u64>(at, 16) | load<u64>(at, 24)) == 0;
}

/** The word, but at most 2^32 - 1. */
export function toU32(at: usize): u32 {
  const low = load<u64>(at);
  return isShort(at) && low <= 0xffffffff ? <u32>low : 0xffffffff;
}

/** Reads 32 big-endian bytes. */
export function loadBytes(to: usize, from: usize): void {
  const high = v128.load(from);
  const low = v128.load(from, 16);
  v128.store(to, v128.shuffle<u8>(low, low, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
  v128.store(to, v128.shuffle<u8>(high, high, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), 16);
}

/** Writes 32 big-endian bytes. */
export {loadBytes as storeBytes};

/** Writes 20 big-endian bytes. */
export function storeAddress(to: usize, from: usize): void {
  store<u32>(to, bswap<u32>(load<u32>(from, 16)));
  store<u64>(to, bswap<u64>(load<u64>(from, 8)), 4);
  store<u64>(to, bswap<u64>(load<u64>(from)), 12);
}

/** Reads 20 big-endian bytes. */
export function loadAddress(to: usize, from: usize): void {
  store<u64>(to, bswap<u64>(load<u64>(from, 12)));
  store<u64>(to, bswap<u64>(load<u64>(from, 4)), 8);
  store<u64>(to, bswap<u32>(load<u32>(from)), 16);
  store<u64>(to, 0, 24);
}

/** a + b. @returns the carry */
export function add(to: usize, a: usize, b: usize): u64 {
  const a0 = load<u64>(a);
  const a1 = load<u64>(a, 8);
  const a2 = load<u64>(a, 16);
  const a3 = load<u64>(a, 24);
  const r0 = a0 + load<u64>(b);
  let carry = u64(r0 < a0);
  const s1 = a1 + load<u64>(b, 8);
  const r1 = s1 + carry;
  carry = u64(s1 < a1) | u64(r1 < s1);
  const s2 = a2 + load<u64>(b, 16);
  const r2 = s2 + carry;
  carry = u64(s2 < a2) | u64(r2 < s2);
  const s3 = a3 + load<u64>(b, 24);
  const r3 = s3 + carry;
  store<u64>(to, r0);
  store<u64>(to, r1, 8);
  store<u64>(to, r2, 16);
  store<u64>(to, r3, 24);
  return u64(s3 < a3) | u64(r3 < s3);
}

/** a - b. @returns the borrow: 1 if b > a */
export function subtract(to: usize, a: usize, b: usize): u64 {
  const a0 = load<u64>(a);
  const a1 = load<u64>(a, 8);
  const a2 = load<u64>(a, 16);
  const a3 = load<u64>(a, 24);
  const r0 = a0 - load<u64>(b);
  let borrow = u64(r0 > a0);
  const s1 = a1 - load<u64>(b, 8);
  const r1 = s1 - borrow;
  borrow = u64(s1 > a1) | u64(r1 > s1);
  const s2 = a2 - load<u64>(b, 16);
  const r2 = s2 - borrow;
  borrow = u64(s2 > a2) | u64(r2 > s2);
  const s3 = a3 - load<u64>(b, 24);
  const r3 = s3 - borrow;
  store<u64>(to, r0);
  store<u64>(to, r1, 8);
  store<u64>(to, r2, 16);
  store<u64>(to, r3, 24);
  return u64(s3 > a3) | u64(r3 > s3);
}

export function isLess(a: usize, b: usize): bool {
  const a3 = load<u64>(a, 24);
  const b3 = load<u64>(b, 24);
  if (a3 != b3) return a3 < b3;
  const a2 = load<u64>(a, 16);
  const b2 = load<u64>(b, 16);
  if (a2 != b2) return a2 < b2;
  const a1 = load<u64>(a, 8);
  const b1 = load<u64>(b, 8);
  if (a1 != b1) return a1 < b1;
  return load<u64>(a) < load<u64>(b);
}

/** a < b of signed words. */
export function isSignedLess(a: usize, b: usize): bool {
  const a3 = load<i64>(a, 24);
  const b3 = load<i64>(b, 24);
  if (a3 < 0 != b3 < 0) return a3 < 0;
  return isLess(a, b);
}

export function negate(at: usize): void {
  subtract(at, ZERO, at);
}

/** The upper half of a product of 128 bits, from digits of 32 bits: WebAssembly has no such product. */
export function upperHalf(x: u64, y: u64): u64 {
  const x0 = x & 0xffffffff;
  const x1 = x >> 32;
  const y0 = y & 0xffffffff;
  const y1 = y >> 32;
  const middle = x1 * y0 + ((x0 * y0) >> 32);
  const other = x0 * y1 + (middle & 0xffffffff);
  return x1 * y1 + (middle >> 32) + (other >> 32);
}

/** a * b, modulo 2^256: the sum of the limbs' products, with carries, from the lowest limb on. */
export function multiply(to: usize, a: usize, b: usize): void {
  const a0 = load<u64>(a);
  const b0 = load<u64>(b);
  if (isShort(a) && isShort(b)) {
    store<u64>(to, a0 * b0);
    store<u64>(to, upperHalf(a0, b0), 8);
    v128.store(to, i64x2(0, 0), 16);
    return;
  }
  const a1 = load<u64>(a, 8);
  const a2 = load<u64>(a, 16);
  const b1 = load<u64>(b, 8);
  const b2 = load<u64>(b, 16);
  let r3 = a0 * load<u64>(b, 24) + a1 * b2 + a2 * b1 + load<u64>(a, 24) * b0;
  r3 += upperHalf(a0, b2) + upperHalf(a1, b1) + upperHalf(a2, b0);
  let r1 = upperHalf(a0, b0);
  let r2 = upperHalf(a0, b1);
  let part = upperHalf(a1, b0);
  r2 += part;
  r3 += u64(r2 < part);
  part = a0 * b1;
  r1 += part;
  let carry = u64(r1 < part);
  part = a1 * b0;
  r1 += part;
  carry += u64(r1 < part);
  r2 += carry;
  r3 += u64(r2 < carry);
  part = a0 * b2;
  r2 += part;
  r3 += u64(r2 < part);
  part = a1 * b1;
  r2 += part;
  r3 += u64(r2 < part);
  part = a2 * b0;
  r2 += part;
  r3 += u64(r2 < part);
  store<u64>(to, a0 * b0);
  store<u64>(to, r1, 8);
  store<u64>(to, r2, 16);
  store<u64>(to, r3, 24);
}

/** Number of bits: position of the highest bit, 1 to 256; 0 for zero. */
export function bitLength(at: usize): i32 {
  for (let limb: i32 = 3; limb >= 0; limb--) {
    const value = load<u64>(at + 8 * limb);
    if (value != 0) return 64 * limb + 64 - <i32>clz<u64>(value);
  }
  return 0;
}

function shiftedLeft(a0: u64, a1: u64, bits: u64): u64 {
  return bits == 0 ? a0 : (a0 << bits) | (a1 >> (64 - bits));
}

function shiftedRight(a0: u64, a1: u64, bits: u64): u64 {
  return bits == 0 ? a0 : (a0 >> bits) | (a1 << (64 - bits));
}

/** @param count - at most 255 */
export function shiftLeft(to: usize, from: usize, count: u32): void {
  let a0 = load<u64>(from);
  let a1 = load<u64>(from, 8);
  let a2 = load<u64>(from, 16);
  let a3 = load<u64>(from, 24);
  if (count & 128) {
    a3 = a1;
    a2 = a0;
    a1 = 0;
    a0 = 0;
  }
  if (count & 64) {
    a3 = a2;
    a2 = a1;
    a1 = a0;
    a0 = 0;
  }
  const bits: u64 = count & 63;
  store<u64>(to, a0 << bits);
  store<u64>(to, shiftedLeft(a1, a0, bits), 8);
  store<u64>(to, shiftedLeft(a2, a1, bits), 16);
  store<u64>(to, shiftedLeft(a3, a2, bits), 24);
}

/** @param count - at most 255. @param fill - the bits that are shifted in: 0 or all ones */
export function shiftRight(to: usize, from: usize, count: u32, fill: u64): void {
  let a0 = load<u64>(from);
  let a1 = load<u64>(from, 8);
  let a2 = load<u64>(from, 16);
  let a3 = load<u64>(from, 24);
  if (count & 128) {
    a0 = a2;
    a1 = a3;
    a2 = fill;
    a3 = fill;
  }
  if (count & 64) {
    a0 = a1;
    a1 = a2;
    a2 = a3;
    a3 = fill;
  }
  const bits: u64 = count & 63;
  store<u64>(to, shiftedRight(a0, a1, bits));
  store<u64>(to, shiftedRight(a1, a2, bits), 8);
  store<u64>(to, shiftedRight(a2, a3, bits), 16);
  store<u64>(to, shiftedRight(a3, fill, bits), 24);
}

/** SIGNEXTEND. @param at - position of the byte with the sign bit, from the lowest one: at most 30 */
export function extendSign(to: usize, from: usize, at: u32): void {
  const bits = 8 * at + 8;
  copyWord(to, from);
  const limb = to + 8 * (<usize>(bits - 1) >> 6);
  const shift: u64 = (64 - (bits & 63)) & 63;
  const value = (load<i64>(limb) << shift) >> shift;
  store<i64>(limb, value);
  for (let above = limb + 8; above < to + 32; above += 8) store<i64>(above, value >> 63);
}
