/** A page as its difference to an older one (../../page/pageDifference.ts). Children are compared one by one. */
import {MAX_PAGE_BYTES, sameBytes} from "./layout";
import {BRANCH_PAGE, branchDepth, childrenAt, endOfChild, firstPathByte, isPage, pageDepth} from "./pages";

/** Takes the older page. SPARE_ORDER, before it, takes four pointers more than ORDER: to leaves that were there. */
export const BASE: usize = 0xdb100;
/** Takes the steps: at most half a page. */
export const STEPS: usize = BASE + MAX_PAGE_BYTES;

/** Equal bytes that end a step: the next one's head is as long. */
const GAP_BYTES: usize = 3;
/** Of a step: three numbers below MAX_PAGE_BYTES. */
const MAX_HEAD_BYTES: usize = 6;

/** What has differed so far and is no step yet: bytes of the page in place of bytes of the base. */
let oldFrom: usize = 0;
let oldEnd: usize = 0;
let ownFrom: usize = 0;
let ownEnd: usize = 0;
/** How far the steps reach in the base, and where the next one is written. */
let done: usize = 0;
let at: usize = 0;
let most: usize = 0;

/** @param bytes - at most so many. @returns the length of the steps; -1: longer, or the pages have other places */
export function differ(baseBytes: u32, page: usize, bytes: u32): i32 {
  if (load<u8>(page) !== BRANCH_PAGE || !isPage(BASE, baseBytes, pageDepth(page))) return -1;
  const head = childrenAt(page) - page;
  if (childrenAt(BASE) - BASE !== head || sameBytes(BASE, page, head) < head) return -1;
  most = STEPS + bytes;
  at = STEPS;
  done = BASE;
  oldFrom = oldEnd = BASE;
  const first = firstPathByte(branchDepth(page));
  let old = BASE + head;
  let own = page + head;
  for (let child = 0; child < 16; child++) {
    const oldNext = endOfChild(old, first);
    const ownNext = endOfChild(own, first);
    if (!differChild(old, oldNext - old, own, ownNext - own)) return -1;
    old = oldNext;
    own = ownNext;
  }
  return writeStep() ? <i32>(at - STEPS) : -1;
}

/** @returns false: the steps became too long */
function differChild(old: usize, oldBytes: usize, own: usize, ownBytes: usize): bool {
  const shorter = min(oldBytes, ownBytes);
  let tail: usize = 0;
  if (oldBytes !== ownBytes)
    while (tail < shorter && load<u8>(old + oldBytes - tail - 1) === load<u8>(own + ownBytes - tail - 1))
      tail++;
  const aligned = shorter - tail;
  for (let i = sameBytes(old, own, aligned); i < aligned; i += sameBytes(old + i, own + i, aligned - i)) {
    const from = i;
    do i++;
    while (i < aligned && load<u8>(old + i) !== load<u8>(own + i));
    if (!replace(old + from, old + i, own + from, own + i)) return false;
  }
  if (oldBytes === ownBytes) return true;
  return replace(old + aligned, old + oldBytes - tail, own + aligned, own + ownBytes - tail);
}

/** Extends the step before if that ends shortly before these bytes. */
function replace(old: usize, oldTo: usize, own: usize, ownTo: usize): bool {
  if (oldEnd === BASE || old - oldEnd >= GAP_BYTES) {
    if (!writeStep()) return false;
    oldFrom = old;
    ownFrom = own;
  }
  oldEnd = oldTo;
  ownEnd = ownTo;
  return true;
}

function writeStep(): bool {
  if (oldEnd === BASE) return true;
  const length = ownEnd - ownFrom;
  const cut = oldEnd - oldFrom;
  if (at + length + MAX_HEAD_BYTES > most) return false;
  writeNumber(oldFrom - done);
  writeNumber(2 * length + (cut === length ? 0 : 1));
  if (cut !== length) writeNumber(cut);
  memory.copy(at, ownFrom, length);
  at += length;
  done = oldEnd;
  return true;
}

/** 7 bits in a byte, the lowest first. */
function writeNumber(value: usize): void {
  for (; value > 127; value >>= 7) store<u8>(at++, 0x80 | (value & 0x7f));
  store<u8>(at++, value);
}
