/**
 * The order in which a block's changes are applied: ascending hKey. Leaf indexes depend on it.
 */
import {WORD_BYTES} from "./suite.ts";

/**
 * @param hKeys - 32 bytes each, back to back
 * @returns their positions, ascending by key
 */
export function sortByHKey(hKeys: Buffer): Uint32Array {
  const count = hKeys.length / WORD_BYTES;
  // The first 48 bits decide nearly always, and compare as numbers.
  const prefixes = new Float64Array(count);
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    prefixes[i] = hKeys.readUIntBE(i * WORD_BYTES, 6);
    order[i] = i;
  }
  return order.sort((a, b) => (prefixes[a] as number) - (prefixes[b] as number) || compareKeys(hKeys, a, b));
}

export function sameHKey(hKeys: Buffer, a: number, b: number): boolean {
  return compareKeys(hKeys, a, b) === 0;
}

function compareKeys(hKeys: Buffer, a: number, b: number): number {
  return hKeys.compare(hKeys, b * WORD_BYTES, (b + 1) * WORD_BYTES, a * WORD_BYTES, (a + 1) * WORD_BYTES);
}
