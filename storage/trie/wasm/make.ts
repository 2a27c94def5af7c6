/** The nodes above sorted entries. */
import {becomeBranch, becomeLeaf, becomeNothing, beginAt, refer} from "./change";
import * as Layout from "./layout";
import {copyReference} from "./rlp";

/** Of an entry that is no value, but the reference of a leaf. */
export const IS_REFERENCE: u32 = 0xffffffff;

/** Makes a trie of sorted entries that are alike down to `depth`. */
export function make(from: usize, to: usize, depth: i32): void {
  const first: usize = load<u32>(from);
  if (from === to) becomeNothing();
  else if (from + 4 === to) becomeLeaf(first, depth);
  else makeBranch(from, to, depth);
}

function makeBranch(from: usize, to: usize, depth: i32): void {
  const first: usize = load<u32>(from);
  const at = Layout.firstDifference(first, load<u32>(to - 4), depth, Layout.PATH_NIBBLES);
  const references = clearBranch(at);
  while (from < to) {
    const end = endOfRun(from, to, at);
    const entry: usize = load<u32>(from);
    const child = references + Layout.nibble(entry, at) * Layout.REFERENCE_BYTES;
    if (load<u32>(entry, Layout.ENTRY_VALUE_BYTES) === IS_REFERENCE && from + 4 === end)
      copyReference(child, entry + Layout.ENTRY_VALUE);
    else {
      make(from, end, at + 1);
      refer(child);
    }
    from = end;
  }
  becomeBranch(first, at, references);
  beginAt(depth);
}

export function clearBranch(depth: i32): usize {
  const references = Layout.frame(depth);
  for (let child: usize = 0; child < 16; child++)
    store<u8>(references + child * Layout.REFERENCE_BYTES, 0x80);
  return references;
}

/** @returns the end of the pointers from `from` on whose paths have the same nibble at `depth` */
export function endOfRun(from: usize, to: usize, depth: i32): usize {
  const own = Layout.nibble(load<u32>(from), depth);
  do from += 4;
  while (from < to && Layout.nibble(load<u32>(from), depth) === own);
  return from;
}
