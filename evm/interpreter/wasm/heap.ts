/** Allocator of accounts, slots and hash tables. Memory is freed only as a whole. */

import {hostDecline} from "./host";
import {ARENA, DECLINE_STATE, HEAP} from "./layout";

let top: usize = HEAP;

/** @returns zeroed bytes */
export function allocate(bytes: usize): usize {
  const at = top;
  top += (bytes + 15) & ~15;
  if (top > ARENA) hostDecline(DECLINE_STATE);
  memory.fill(at, 0, bytes);
  return at;
}

export function resetHeap(): void {
  top = HEAP;
}

export function heapBytes(): usize {
  return top - HEAP;
}
