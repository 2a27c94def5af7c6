/** Binary search. */

/** @param isBelow - true for the first of `count` entries, false for all after them. @returns how many are below */
export function countBelow(count: number, isBelow: (at: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isBelow(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
