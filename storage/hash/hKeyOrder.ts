/** The order of hKeys, as unsigned bytes: of the linked leaves, of the indexes, and of a block's changes. */
import {WORD_BYTES} from "./suite.ts";

/** More keys than these are sorted in parts by their first byte. */
const KEYS_AT_ONCE = 1 << 16;
const PARTS = 256;

interface SortedKey {
  readonly position: number;
  /** 32 bytes, a view. */
  readonly hKey: Buffer;
}

/**
 * Goes through keys in ascending order. Of millions of keys, only a part of them is in memory at a time.
 *
 * @param hKeyAt - 32 bytes. Called twice for each of more than 65 536 keys
 */
export function* inHKeyOrder(
  count: number,
  hKeyAt: (position: number) => Uint8Array,
): Generator<SortedKey, undefined> {
  for (const part of count > KEYS_AT_ONCE ? splitByFirstByte(count, hKeyAt) : [undefined]) {
    const size = part?.length ?? count;
    const positionAt = (i: number): number => (part === undefined ? i : (part[i] as number));
    const hKeys = Buffer.allocUnsafe(size * WORD_BYTES);
    for (let i = 0; i < size; i++) hKeys.set(hKeyAt(positionAt(i)), i * WORD_BYTES);
    for (const i of sortByHKey(hKeys))
      yield {position: positionAt(i), hKey: hKeys.subarray(i * WORD_BYTES, (i + 1) * WORD_BYTES)};
  }
}

/** @returns positions */
function splitByFirstByte(count: number, hKeyAt: (position: number) => Uint8Array): Uint32Array[] {
  const bytes = new Uint8Array(count);
  const ends = new Uint32Array(PARTS);
  for (let i = 0; i < count; i++) bytes[i] = hKeyAt(i)[0] as number;
  for (const byte of bytes) (ends[byte] as number)++;
  for (let byte = 1; byte < PARTS; byte++) (ends[byte] as number) += ends[byte - 1] as number;
  const starts = Uint32Array.of(0, ...ends);
  const next = starts.slice();
  const positions = new Uint32Array(count);
  for (const [i, byte] of bytes.entries()) positions[(next[byte] as number)++] = i;
  return Array.from(ends, (end, byte) => positions.subarray(starts[byte], end));
}

/** @param hKeys - 32 bytes each, back to back. @returns their positions, ascending by key */
export function sortByHKey(hKeys: Buffer): Uint32Array {
  const count = hKeys.length / WORD_BYTES;
  // The first 48 bits nearly always decide, and they can be compared as numbers.
  const prefixes = new Float64Array(count);
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    prefixes[i] = hKeys.readUIntBE(i * WORD_BYTES, 6);
    order[i] = i;
  }
  return order.sort((a, b) => (prefixes[a] as number) - (prefixes[b] as number) || compareKeys(hKeys, a, b));
}

/** Keys differ early, and Buffer.compare costs a call into C++. @returns below 0, 0 or above 0 */
export function compareWordAt(bytes: Uint8Array, offset: number, hKey: Uint8Array): number {
  for (let i = 0; i < WORD_BYTES; i++) {
    const difference = (bytes[offset + i] as number) - (hKey[i] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}

export function sameHKey(hKeys: Buffer, a: number, b: number): boolean {
  return compareKeys(hKeys, a, b) === 0;
}

function compareKeys(hKeys: Buffer, a: number, b: number): number {
  return hKeys.compare(hKeys, b * WORD_BYTES, (b + 1) * WORD_BYTES, a * WORD_BYTES, (a + 1) * WORD_BYTES);
}
