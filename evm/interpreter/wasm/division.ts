/** Quotients and remainders: Knuth's algorithm D (The Art of Computer Programming, 4.3.1) with 32-bit digits. */
import {SCRATCH} from "./layout";
import {add, bitLength, copyWord, isLess, isShort, isZero, multiply, negate, setWord} from "./words";

/** A shifted dividend: 17 digits and one more. */
const DIVIDEND: usize = SCRATCH;
const DIVISOR: usize = SCRATCH + 128;
/** 16 digits. */
const QUOTIENT: usize = SCRATCH + 192;
/** A product or a sum before the shift: 16 digits. */
const WIDE: usize = SCRATCH + 256;
const BASE: usize = SCRATCH + 320;
const POWER: usize = SCRATCH + 352;
const LEFT: usize = SCRATCH + 384;
const RIGHT: usize = SCRATCH + 416;

function countDigits(at: usize, most: i32): i32 {
  let count = most;
  while (count > 0 && load<u32>(at + 4 * (count - 1)) == 0) count--;
  return count;
}

/** Divides the digits at `from` by the word at `by`, not 0. QUOTIENT gets the quotient, `rest` the remainder. */
function divideDigits(from: usize, digits: i32, by: usize, rest: usize): void {
  memory.fill(QUOTIENT, 0, 64);
  const n = countDigits(by, 8);
  const m = countDigits(from, digits);
  if (m < n) {
    copyWord(rest, from);
    return;
  }
  if (n == 1) {
    const divisor: u64 = load<u32>(by);
    let left: u64 = 0;
    for (let at = m - 1; at >= 0; at--) {
      const value = (left << 32) | load<u32>(from + 4 * at);
      store<u32>(QUOTIENT + 4 * at, <u32>(value / divisor));
      left = value % divisor;
    }
    setWord(rest, left);
    return;
  }
  const shift: u64 = clz<u32>(load<u32>(by + 4 * (n - 1)));
  for (let at = n - 1; at >= 0; at--) {
    const below: u64 = at > 0 ? load<u32>(by + 4 * (at - 1)) : 0;
    store<u32>(DIVISOR + 4 * at, <u32>((((<u64>load<u32>(by + 4 * at)) << 32) | below) >> (32 - shift)));
  }
  store<u32>(DIVIDEND + 4 * m, <u32>(<u64>load<u32>(from + 4 * (m - 1)) >> (32 - shift)));
  for (let at = m - 1; at >= 0; at--) {
    const below: u64 = at > 0 ? load<u32>(from + 4 * (at - 1)) : 0;
    store<u32>(DIVIDEND + 4 * at, <u32>((((<u64>load<u32>(from + 4 * at)) << 32) | below) >> (32 - shift)));
  }
  const first: u64 = load<u32>(DIVISOR + 4 * (n - 1));
  const second: u64 = load<u32>(DIVISOR + 4 * (n - 2));
  for (let at = m - n; at >= 0; at--) {
    const place = DIVIDEND + 4 * at;
    const head = ((<u64>load<u32>(place + 4 * n)) << 32) | load<u32>(place + 4 * (n - 1));
    let guess = head / first;
    let left = head % first;
    while (guess > 0xffffffff || guess * second > ((left << 32) | load<u32>(place + 4 * (n - 2)))) {
      guess--;
      left += first;
      if (left > 0xffffffff) break;
    }
    let borrow: i64 = 0;
    let carry: u64 = 0;
    for (let digit = 0; digit < n; digit++) {
      const product = guess * load<u32>(DIVISOR + 4 * digit) + carry;
      carry = product >> 32;
      const value = <i64>load<u32>(place + 4 * digit) - borrow - <i64>(product & 0xffffffff);
      store<u32>(place + 4 * digit, <u32>value);
      borrow = value < 0 ? 1 : 0;
    }
    const top = <i64>load<u32>(place + 4 * n) - borrow - <i64>carry;
    store<u32>(place + 4 * n, <u32>top);
    if (top < 0) {
      guess--;
      carry = 0;
      for (let digit = 0; digit < n; digit++) {
        const value = <u64>load<u32>(place + 4 * digit) + load<u32>(DIVISOR + 4 * digit) + carry;
        store<u32>(place + 4 * digit, <u32>value);
        carry = value >> 32;
      }
      store<u32>(place + 4 * n, load<u32>(place + 4 * n) + <u32>carry);
    }
    store<u32>(QUOTIENT + 4 * at, <u32>guess);
  }
  setWord(rest, 0);
  for (let at = 0; at < n; at++) {
    const value = ((<u64>load<u32>(DIVIDEND + 4 * (at + 1))) << 32) | load<u32>(DIVIDEND + 4 * at);
    store<u32>(rest + 4 * at, <u32>(value >> shift));
  }
}

/** a / b; 0 if b is 0. */
export function divide(to: usize, a: usize, b: usize): void {
  if (isZero(b) || isLess(a, b)) return setWord(to, 0);
  if (isShort(a)) return setWord(to, load<u64>(a) / load<u64>(b));
  divideDigits(a, 8, b, to);
  copyWord(to, QUOTIENT);
}

/** a % b; 0 if b is 0. */
export function remainder(to: usize, a: usize, b: usize): void {
  if (isZero(b)) return setWord(to, 0);
  if (isLess(a, b)) return copyWord(to, a);
  if (isShort(a)) return setWord(to, load<u64>(a) % load<u64>(b));
  divideDigits(a, 8, b, to);
}

export function divideSigned(to: usize, a: usize, b: usize): void {
  const isNegative = load<i64>(a, 24) < 0 != load<i64>(b, 24) < 0;
  toMagnitudes(a, b);
  divide(to, LEFT, RIGHT);
  if (isNegative) negate(to);
}

/** a % b of signed words. The result has the sign of a. */
export function remainderSigned(to: usize, a: usize, b: usize): void {
  const isNegative = load<i64>(a, 24) < 0;
  toMagnitudes(a, b);
  remainder(to, LEFT, RIGHT);
  if (isNegative) negate(to);
}

function toMagnitudes(a: usize, b: usize): void {
  copyWord(LEFT, a);
  copyWord(RIGHT, b);
  if (load<i64>(LEFT, 24) < 0) negate(LEFT);
  if (load<i64>(RIGHT, 24) < 0) negate(RIGHT);
}

/** (a + b) % m; 0 if m is 0. */
export function addModulo(to: usize, a: usize, b: usize, m: usize): void {
  if (isZero(m)) return setWord(to, 0);
  store<u64>(WIDE, add(WIDE, a, b), 32);
  divideDigits(WIDE, 9, m, to);
}

/** (a * b) % m; 0 if m is 0. */
export function multiplyModulo(to: usize, a: usize, b: usize, m: usize): void {
  if (isZero(m)) return setWord(to, 0);
  memory.fill(WIDE, 0, 64);
  for (let row: usize = 0; row < 32; row += 4) {
    const digit: u64 = load<u32>(a + row);
    if (digit == 0) continue;
    let carry: u64 = 0;
    for (let column: usize = 0; column < 32; column += 4) {
      const place = WIDE + row + column;
      const value = digit * load<u32>(b + column) + load<u32>(place) + carry;
      store<u32>(place, <u32>value);
      carry = value >> 32;
    }
    store<u32>(WIDE + row + 32, <u32>carry);
  }
  divideDigits(WIDE, 16, m, to);
}

/** a ** b, modulo 2^256. */
export function power(to: usize, a: usize, b: usize): void {
  copyWord(BASE, a);
  setWord(POWER, 1);
  const bits = bitLength(b);
  for (let bit = bits - 1; bit >= 0; bit--) {
    multiply(POWER, POWER, POWER);
    if ((load<u64>(b + 8 * (<usize>bit >> 6)) >> (bit & 63)) & 1) multiply(POWER, POWER, BASE);
  }
  copyWord(to, POWER);
}
