/** 32 bytes in linear memory. */

export function copyWord(to: usize, from: usize): void {
  const low = v128.load(from);
  const high = v128.load(from, 16);
  v128.store(to, low);
  v128.store(to, high, 16);
}

export function sameWord(a: usize, b: usize): bool {
  const low = v128.xor(v128.load(a), v128.load(b));
  return !v128.any_true(v128.or(low, v128.xor(v128.load(a, 16), v128.load(b, 16))));
}
