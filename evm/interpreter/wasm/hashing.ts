/**
 * Hashes of hash table keys. Attackers choose the keys, so the hashes have random seeds. As in wyhash, pairs of u64 are
 * multiplied after adding a secret to each, and both halves of the product are used: if the factors were known
 * constants, keys could be found that collide under every seed.
 */

import {upperHalf} from "./words";

let seed0: u64 = 0;
let seed1: u64 = 0;
let seed2: u64 = 0;
let seed3: u64 = 0;

export function seedHashes(a: u64, b: u64, c: u64, d: u64): void {
  seed0 = a;
  seed1 = b;
  seed2 = c;
  seed3 = d;
}

/** Both halves of the product, folded. */
function fold(a: u64, b: u64): u64 {
  return (a * b) ^ upperHalf(a, b);
}

/** Hash of a word. @param salt - for words of several kinds in a table */
export function hashWord(at: usize, salt: u64): u32 {
  return hashKey(load<u64>(at) ^ salt, load<u64>(at, 8), load<u64>(at, 16), load<u64>(at, 24));
}

/** Hash of four u64. */
export function hashKey(a: u64, b: u64, c: u64, d: u64): u32 {
  const pairs = fold(a ^ seed0, b ^ seed1) ^ rotl<u64>(fold(c ^ seed2, d ^ seed3), 32);
  return <u32>fold(pairs ^ seed2, seed1 | 1);
}
