/** The writes of an update, in the order of their paths. */
import {ENTRIES, ENTRY_BYTES, ENTRY_NIBBLES, ORDER, PATH_NIBBLES, SPARE_ORDER} from "./layout";

/** Writes pointers to the entries to ORDER, sorted by path; the last one of a path stays. @returns their end */
export function sortEntries(count: u32): usize {
  for (let i: u32 = 0; i < count; i++) {
    const entry = ENTRIES + i * ENTRY_BYTES;
    store<i32>(entry, PATH_NIBBLES, ENTRY_NIBBLES);
    store<u32>(ORDER + (i << 2), entry);
  }
  for (let width: u32 = 1; width < count; width <<= 1) {
    for (let first: u32 = 0; first < count; first += 2 * width) mergeRuns(first, width, count);
    memory.copy(ORDER, SPARE_ORDER, count << 2);
  }
  let end = ORDER;
  for (let at = ORDER; at < ORDER + (count << 2); at += 4) {
    if (end > ORDER && comparePaths(load<u32>(end - 4), load<u32>(at)) === 0) end -= 4;
    store<u32>(end, load<u32>(at));
    end += 4;
  }
  return end;
}

/** @returns below 0, 0 or above 0 */
export function comparePaths(a: usize, b: usize): i32 {
  for (let at: usize = 0; at < 32; at += 8) {
    const left = bswap<u64>(load<u64>(a + at));
    const right = bswap<u64>(load<u64>(b + at));
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

/** Merges two sorted runs of pointers that are neighbours, from ORDER to SPARE_ORDER. */
function mergeRuns(first: u32, width: u32, count: u32): void {
  let left = ORDER + (first << 2);
  let right = ORDER + (min(first + width, count) << 2);
  const leftEnd = right;
  const rightEnd = ORDER + (min(first + 2 * width, count) << 2);
  for (let to = SPARE_ORDER + (first << 2); left < leftEnd || right < rightEnd; to += 4) {
    const takesLeft =
      right >= rightEnd || (left < leftEnd && comparePaths(load<u32>(left), load<u32>(right)) <= 0);
    store<u32>(to, load<u32>(takesLeft ? left : right));
    if (takesLeft) left += 4;
    else right += 4;
  }
}
