/**
 * AssemblyScript, not TypeScript: `npm run build` compiles it to dist/workers/prove/quoteNodes.wasm, for nodeText.ts.
 *
 * A vector of 16 bytes becomes 32 characters: each half byte picks its digit from a vector of sixteen (swizzle), and
 * the digits of the high and the low halves are interleaved (shuffle).
 */

/** `,"0x` and `"`, little-endian. */
const BEFORE: u32 = 0x7830222c;
const AFTER: u8 = 0x22;

/**
 * Writes `,"0x<digits>"` for each of `count` nodes that lie back to back at `from`. Reads and writes whole vectors: up
 * to 15 bytes after a node, and 31 after its digits.
 *
 * @param to - where count * (2 * nodeBytes + 5) bytes are free, and 32 more
 * @returns the address after the text
 */
export function quoteNodes(from: usize, count: u32, nodeBytes: u32, to: usize): usize {
  const digits = i32x4(0x33323130, 0x37363534, 0x62613938, 0x66656463);
  const lowHalves = i8x16.splat(0x0f);
  for (let i: u32 = 0; i < count; i++) {
    store<u32>(to, BEFORE);
    to += 4;
    for (let at: u32 = 0; at < nodeBytes; at += 16) {
      const bytes = v128.load(from + at);
      const high = v128.swizzle(digits, v128.shr<u8>(bytes, 4));
      const low = v128.swizzle(digits, v128.and(bytes, lowHalves));
      const left = v128.shuffle<u8>(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      const right = v128.shuffle<u8>(high, low, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
      v128.store(to + 2 * at, left);
      v128.store(to + 2 * at + 16, right);
    }
    from += nodeBytes;
    to += 2 * nodeBytes;
    store<u8>(to, AFTER);
    to += 1;
  }
  return to;
}
