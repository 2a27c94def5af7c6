/** AssemblyScript: vectors of one word of each of four messages. */

/** The four words of the vector, each in the other byte order. */
export function swapBytes(x: v128): v128 {
  return v128.swizzle(x, i8x16(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
}

/** Stores the first word of each of the vectors, then the second ones, `step` apart. */
export function transpose(a: v128, b: v128, c: v128, d: v128, to: usize, step: usize): void {
  const lowAb = v128.shuffle<i32>(a, b, 0, 4, 1, 5);
  const lowCd = v128.shuffle<i32>(c, d, 0, 4, 1, 5);
  const highAb = v128.shuffle<i32>(a, b, 2, 6, 3, 7);
  const highCd = v128.shuffle<i32>(c, d, 2, 6, 3, 7);
  v128.store(to, v128.shuffle<i64>(lowAb, lowCd, 0, 2));
  v128.store(to + step, v128.shuffle<i64>(lowAb, lowCd, 1, 3));
  v128.store(to + 2 * step, v128.shuffle<i64>(highAb, highCd, 0, 2));
  v128.store(to + 3 * step, v128.shuffle<i64>(highAb, highCd, 1, 3));
}
