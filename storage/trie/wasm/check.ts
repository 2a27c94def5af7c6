/** Hashing the nodes of a page again, from its leaves. */
import {setAccounts} from "./account";
import {refer, referRoot} from "./change";
import {copyWord, PATH, sameBytes, scratchOf, setNibble} from "./layout";
import {make} from "./make";
import * as Pages from "./pages";
import {endOf} from "./rlp";
import {becomeRoot, referPage} from "./update";

const POINTERS: usize = memory.data(16, 16);
const MADE: usize = memory.data(48, 16);
const STORED: usize = memory.data(48, 16);

/**
 * Checks the page at the first `depth` nibbles of PATH. Writes the root of a small page to RESULT, and the reference to
 * another one in its parent to REFERENCE.
 *
 * @returns the nibble of the first child whose leaves have another reference than the page says; -1: all are right
 */
export function check(number: f64, depth: i32, accounts: bool): i32 {
  setAccounts(accounts);
  copyWord(Pages.PLACE, PATH);
  const page = Pages.readPage(number, depth);
  if (load<u8>(page) === Pages.SMALL_PAGE) {
    makeLeaves(Pages.smallLeavesAt(page), Pages.smallCount(page), 0, 0);
    referRoot();
    return -1;
  }
  Pages.placeBranch(page);
  const branch = Pages.branchDepth(page);
  const first = Pages.firstPathByte(branch);
  const children = Pages.childrenAt(page);
  let wrong = -1;
  for (let child = 0, at = children; child < 16; child++, at = Pages.endOfChild(at, first)) {
    const kind: u32 = load<u8>(at);
    if (kind === 0 || Pages.isPageChild(kind) || Pages.isHashChild(kind)) continue;
    setNibble(Pages.PLACE, branch, child);
    makeLeaves(Pages.leavesOf(at), Pages.leafCount(at), first, branch + 1);
    refer(MADE);
    Pages.copyChildReference(STORED, at);
    if (wrong < 0 && !isSame(MADE, STORED)) wrong = child;
  }
  referPage(children, depth, branch);
  if (depth === 0) becomeRoot();
  return wrong;
}

/** Becomes the nodes above leaves of a page at PLACE, in the order of their paths. */
export function makeLeaves(leaves: usize, count: u32, first: usize, depth: i32): void {
  for (let i: u32 = 0; i < count; i++) {
    const entry = scratchOf(depth, i);
    Pages.readLeaf(leaves, first, entry);
    store<u32>(POINTERS + (i << 2), <u32>entry);
    leaves = Pages.endOfLeaf(leaves, first);
  }
  make(POINTERS, POINTERS + (count << 2), depth);
}

function isSame(a: usize, b: usize): bool {
  const bytes = endOf(a) - a;
  return endOf(b) - b === bytes && sameBytes(a, b, bytes) === bytes;
}
