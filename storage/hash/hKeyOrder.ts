/** The order of hKeys, as unsigned bytes: of the linked leaves, of the indexes, and of a block's changes. */
import {WORD_BYTES} from "./suite.ts";

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
