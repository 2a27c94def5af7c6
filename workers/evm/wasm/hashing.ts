/** Hashes of keys. Senders choose the keys, so the host seeds them at random: nobody can choose keys that collide. */

let seed0: u64 = 0;
let seed1: u64 = 0;

export function seedHashes(first: u64, second: u64): void {
  seed0 = first | 1;
  seed1 = second | 1;
}

/** Of four u64, as murmur3 and its finaliser mix them. */
export function hashKey(a: u64, b: u64, c: u64, d: u64): u32 {
  let h = (a ^ seed0) * 0x9e3779b97f4a7c15;
  h = rotl<u64>(h ^ (h >> 32), 27) ^ b;
  h *= 0xbf58476d1ce4e5b9 ^ seed1;
  h = rotl<u64>(h ^ (h >> 29), 31) ^ c;
  h *= 0x94d049bb133111eb ^ seed0;
  h = rotl<u64>(h ^ (h >> 31), 33) ^ d;
  h *= seed1;
  h ^= h >> 32;
  h *= 0xff51afd7ed558ccd;
  return <u32>(h >> 32);
}
