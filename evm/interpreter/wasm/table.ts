/**
 * Chained hash tables. An entry begins with a link to the next entry of its bucket and its hash. Buckets are u32, and
 * their number is a power of two. A table grows when it has as many entries as buckets.
 */
import {allocate} from "./heap";

export const NEXT: usize = 0;
export const HASH: usize = 4;

export function link(buckets: usize, mask: u32, entry: usize): void {
  const bucket = buckets + 4 * (load<u32>(entry, HASH) & mask);
  store<u32>(entry, load<u32>(bucket), NEXT);
  store<u32>(bucket, <u32>entry);
}

/** @returns four times as many buckets with the same entries */
export function growTable(old: usize, oldMask: u32): usize {
  const mask = (oldMask << 2) | 3;
  const buckets = allocate(4 * (<usize>mask + 1));
  for (let bucket: usize = 0; bucket <= oldMask; bucket++) {
    let entry: usize = load<u32>(old + 4 * bucket);
    while (entry != 0) {
      const next: usize = load<u32>(entry, NEXT);
      link(buckets, mask, entry);
      entry = next;
    }
  }
  return buckets;
}
