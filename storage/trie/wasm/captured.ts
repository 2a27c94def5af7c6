/**
 * The encoded nodes on the path to PATH, without those that are inlined in their parent.
 *
 *   node   bytes u32 | RLP             pointers to them, in order, use the memory of an update's entries
 */
import {ENTRIES, firstDifference, NODE, ORDER, PATH} from "./layout";

const MIN_BYTES: u32 = 32;
/** Behind as many nodes as a path has. */
export const GATHERED: usize = ENTRIES + 0x10000;

/** Is a branch below an extension on the path whenever the extension is? reth treats both as one node. */
export let joinsBranches: bool = false;
let isOn: bool = false;
let top: usize = ENTRIES;
let count: u32 = 0;

export function beginCapture(joins: bool): void {
  joinsBranches = joins;
  top = ENTRIES;
  count = 0;
}

/** The nodes that are made from now on, the lowest first, until `endRun`. @returns how many were captured before */
export function beginRun(): u32 {
  isOn = true;
  return count;
}

/** @param before - what `beginRun` returned */
export function endRun(before: u32): void {
  isOn = false;
  for (let low = before, high = count; low + 1 < high; low++) {
    high--;
    const pointer = load<u32>(ORDER + (low << 2));
    store<u32>(ORDER + (low << 2), load<u32>(ORDER + (high << 2)));
    store<u32>(ORDER + (high << 2), pointer);
  }
}

/** Keeps the node encoded at NODE, if it is on the path. @param path - of a key below it */
export function capture(path: usize, depth: i32, bytes: u32): void {
  if (!isOn || (bytes < MIN_BYTES && depth > 0) || firstDifference(path, PATH, 0, depth) < depth) return;
  store<u32>(top, bytes);
  memory.copy(top + 4, NODE, bytes);
  store<u32>(ORDER + (count << 2), top);
  top += (4 + bytes + 15) & ~15;
  count++;
}

/** Puts the nodes back to back at GATHERED, and their ends in place of the pointers. @returns how many */
export function gather(): u32 {
  let to = GATHERED;
  for (let i: u32 = 0; i < count; i++) {
    const node: usize = load<u32>(ORDER + (i << 2));
    const bytes = load<u32>(node);
    memory.copy(to, node + 4, bytes);
    to += bytes;
    store<u32>(ORDER + (i << 2), <u32>(to - GATHERED));
  }
  return count;
}
