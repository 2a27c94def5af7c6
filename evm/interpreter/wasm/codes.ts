/**
 * The cache of codes by hash, with their jump destinations.
 *
 *   entry      hash 32, next u32, bytes u32, code u32, jumps u32 (0: not analysed), delegate: flag u32, -, address word
 *   code       32 zeros, because a PUSH loads the 32 bytes that end with its data; the code; 48 zeros: 0 is STOP
 *   jumps      a bit for each byte: 1 for a JUMPDEST that is not push data
 */
import {hashWord} from "./hashing";
import {hostDecline, hostReadCode} from "./host";
import {CODES, DECLINE_CODES, HEAP, IO} from "./layout";
import {HAS_DELEGATIONS, param} from "./params";
import {copyWord, loadAddress, sameWord} from "./words";

const NEXT: usize = 32;
export const CODE_BYTES: usize = 36;
export const CODE_AT: usize = 40;
export const JUMPS_AT: usize = 44;
const DELEGATES: usize = 48;
export const DELEGATE: usize = 56;
const ENTRY_BYTES: usize = 88;

export const BEFORE_CODE: usize = 32;
export const AFTER_CODE: usize = 48;

const BUCKETS: usize = 4096;
/** Length of a delegation (EIP-7702): 0xef0100 and an address. */
const DELEGATION_BYTES: u32 = 23;

/** Hash of empty code. */
export const EMPTY_HASH: usize = memory.data<u8>([
  0xc5, 0xd2, 0x46, 0x01, 0x86, 0xf7, 0x23, 0x3c, 0x92, 0x7e, 0x7d, 0xb2, 0xdc, 0xc7, 0x03, 0xc0, 0xe5, 0x00,
  0xb6, 0x53, 0xca, 0x82, 0x27, 0x3b, 0x7b, 0xfa, 0xd8, 0x04, 0x5d, 0x85, 0xa4, 0x70,
]);

let top: usize = CODES;
/** The entry that `reserveCode` made last. */
let reserved: usize = 0;
let empty: usize = 0;

export function resetCodes(): void {
  memory.fill(CODES, 0, 4 * BUCKETS);
  top = CODES + 4 * BUCKETS;
  copyWord(IO, EMPTY_HASH);
  reserveCode(0);
  empty = reserved;
}

export function codesBytes(): usize {
  return top - CODES;
}

export function codeOf(hash: usize): usize {
  if (sameWord(hash, EMPTY_HASH)) return empty;
  const known = find(hash);
  if (known != 0) return known;
  copyWord(IO, hash);
  hostReadCode();
  return reserved;
}

/** @returns 0 if the code is not cached */
export function find(hash: usize): usize {
  let entry: usize = load<u32>(bucketOf(hash));
  while (entry != 0) {
    if (sameWord(entry, hash)) return entry;
    entry = load<u32>(entry, NEXT);
  }
  return 0;
}

function bucketOf(hash: usize): usize {
  return CODES + 4 * (<usize>hashWord(hash, 0) & (BUCKETS - 1));
}

/** Makes an entry for the code whose hash is in IO. @returns where to copy the code; then call `finishCode` */
export function reserveCode(bytes: u32): usize {
  const entry = top;
  const size = ENTRY_BYTES + BEFORE_CODE + <usize>bytes + AFTER_CODE;
  if (<usize>bytes > HEAP - CODES || entry + size > HEAP) hostDecline(DECLINE_CODES);
  top = (entry + size + 15) & ~15;
  memory.fill(entry, 0, ENTRY_BYTES + BEFORE_CODE);
  copyWord(entry, IO);
  const code = entry + ENTRY_BYTES + BEFORE_CODE;
  memory.fill(code + bytes, 0, AFTER_CODE);
  store<u32>(entry, bytes, CODE_BYTES);
  store<u32>(entry, <u32>code, CODE_AT);
  const bucket = bucketOf(entry);
  store<u32>(entry, load<u32>(bucket), NEXT);
  store<u32>(bucket, <u32>entry);
  reserved = entry;
  return code;
}

/** Completes the entry that was reserved last: detects a delegation. */
export function finishCode(): usize {
  const code: usize = load<u32>(reserved, CODE_AT);
  if (load<u32>(reserved, CODE_BYTES) == DELEGATION_BYTES && (load<u32>(code) & 0xffffff) == 0x0001ef) {
    store<u32>(reserved, 1, DELEGATES);
    loadAddress(reserved + DELEGATE, code + 3);
  }
  return reserved;
}

export function isDelegation(code: usize): bool {
  return load<u32>(code, DELEGATES) != 0 && param(HAS_DELEGATIONS) != 0;
}

/** The jump destinations of the code, found when it first runs. */
export function jumpsOf(code: usize): usize {
  const known: usize = load<u32>(code, JUMPS_AT);
  if (known != 0) return known;
  const bytes = load<u32>(code, CODE_BYTES);
  const jumps = top;
  const size = jumpBytes(bytes);
  if (jumps + size > HEAP) hostDecline(DECLINE_CODES);
  top += (size + 15) & ~15;
  findJumps(load<u32>(code, CODE_AT), bytes, jumps);
  store<u32>(code, <u32>jumps, JUMPS_AT);
  return jumps;
}

export function jumpBytes(codeBytes: u32): usize {
  return (<usize>codeBytes >> 3) + 1;
}

export function findJumps(code: usize, bytes: u32, jumps: usize): void {
  memory.fill(jumps, 0, jumpBytes(bytes));
  for (let at: u32 = 0; at < bytes; at++) {
    const opcode = <u32>load<u8>(code + at);
    if (opcode == 0x5b) {
      const place = jumps + (at >> 3);
      store<u8>(place, load<u8>(place) | <u8>((<u32>1) << (at & 7)));
    } else if (opcode - 0x60 < 32) at += opcode - 0x5f;
  }
}
