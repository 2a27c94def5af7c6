/** The order of hKeys, as unsigned bytes: of the linked leaves, of the indexes, and of a block's changes. */
import {WORD_BYTES} from "./suite.ts";

/** Of more keys, only those with the same first byte are in memory at a time. */
const KEYS_AT_ONCE = 1 << 16;

interface SortedKey {
  readonly position: number;
  /** 32 bytes, a view. */
  readonly hKey: Buffer;
}

/** @param hKeyAt - 32 bytes; called twice for each of more than 65 536 keys. @returns all keys, ascending */
export function* inHKeyOrder(
  count: number,
  hKeyAt: (position: number) => Uint8Array,
): Generator<SortedKey, undefined> {
  const isSplit = count > KEYS_AT_ONCE;
  const parts = new Uint8Array(count);
  if (isSplit) for (let i = 0; i < count; i++) parts[i] = hKeyAt(i)[0] as number;
  for (let part = 0; part < (isSplit ? 256 : 1); part++) {
    const positions: number[] = [];
    for (let i = 0; i < count; i++) if (parts[i] === part) positions.push(i);
    const hKeys = Buffer.allocUnsafe(positions.length * WORD_BYTES);
    for (const [i, position] of positions.entries()) hKeys.set(hKeyAt(position), i * WORD_BYTES);
    for (const i of sortByHKey(hKeys))
      yield {
        position: positions[i] as number,
        hKey: hKeys.subarray(i * WORD_BYTES, (i + 1) * WORD_BYTES),
      };
  }
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

/** Keys differ early, and Buffer.compare costs a call into C++. @param length - in bytes. @returns below 0, 0 or above 0 */
export function compareWordAt(
  bytes: Uint8Array,
  offset: number,
  hKey: Uint8Array,
  hKeyAt = 0,
  length = WORD_BYTES,
): number {
  for (let i = 0; i < length; i++) {
    const difference = (bytes[offset + i] as number) - (hKey[hKeyAt + i] as number);
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
