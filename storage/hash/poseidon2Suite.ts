/**
 * Poseidon2 over KoalaBear, the hash of the live network (docs/proofs.md, sections 1 and 6). What is no digest goes
 * through safe(): two bytes become one element of four, so that every element is below p.
 *
 *   leaf opening   safe(prev) 64 | safe(next) 64 | hKey 32 | hVal 32
 *   root node      safe(nextFreeNode) 64 | subRoot 32
 */
import {BLOCK_BYTES, poseidon2, poseidon2Into} from "./poseidon2.ts";
import {ACCOUNT_VALUE_BYTES, type HashSuite, WORD_BYTES} from "./suite.ts";

const LIMB_BYTES = 4;
const LIMBS_PER_BLOCK = BLOCK_BYTES / LIMB_BYTES;
const SAFE_WORD_BYTES = 2 * WORD_BYTES;
const LEAF_OPENING_BYTES = 2 * SAFE_WORD_BYTES + 2 * WORD_BYTES;
const ROOT_NODE_BYTES = SAFE_WORD_BYTES + WORD_BYTES;
const PAIR_BYTES = 2 * WORD_BYTES;

/** Of an account's six words, storageRoot and codeHash are digests. */
const DIGEST_WORDS = [2, 3];
const SAFE_ACCOUNT_BYTES = 2 * ACCOUNT_VALUE_BYTES - DIGEST_WORDS.length * WORD_BYTES;

const safeWord = new Uint8Array(SAFE_WORD_BYTES);
const safeAddress = new Uint8Array(40);
const safeAccount = new Uint8Array(SAFE_ACCOUNT_BYTES);

export const poseidon2Suite: HashSuite = {
  name: "poseidon2",
  leafOpeningBytes: LEAF_OPENING_BYTES,
  rootNodeBytes: ROOT_NODE_BYTES,
  tailHKey: Uint8Array.from({length: WORD_BYTES}, (_, i) => (i % LIMB_BYTES === 0 ? 0x7f : 0)),

  hashPairsInto(pairs, count, out) {
    poseidon2Into(pairs, count, PAIR_BYTES, out);
  },
  encodeLeafLinksInto,
  encodeLeafOpeningInto(out, offset, prev, next, hKey, hVal) {
    encodeLeafLinksInto(out, offset, prev, next);
    out.set(hKey, offset + 2 * SAFE_WORD_BYTES);
    out.set(hVal, offset + 2 * SAFE_WORD_BYTES + WORD_BYTES);
  },
  encodeRootNodeInto(out, offset, nextFreeNode, subRoot) {
    writeSafeIndex(out, offset, nextFreeNode);
    out.set(subRoot, offset + SAFE_WORD_BYTES);
  },
  hashNode: poseidon2,
  hashLeavesInto(openings, count, out) {
    poseidon2Into(openings, count, LEAF_OPENING_BYTES, out);
  },
  hashAddress(address) {
    writeSafe(address, safeAddress, 0);
    return poseidon2(safeAddress);
  },
  hashSlot: hashWord,
  hashSlotValue: hashWord,
  hashAccountValue(value) {
    let at = 0;
    for (let i = 0; i * WORD_BYTES < ACCOUNT_VALUE_BYTES; i++) {
      const word = value.subarray(i * WORD_BYTES, (i + 1) * WORD_BYTES);
      if (DIGEST_WORDS.includes(i)) safeAccount.set(word, at);
      else writeSafe(word, safeAccount, at);
      at += DIGEST_WORDS.includes(i) ? WORD_BYTES : SAFE_WORD_BYTES;
    }
    return poseidon2(safeAccount);
  },
  hashCode(code) {
    // An account without code has the hash of one empty word.
    return poseidon2(code.length === 0 ? new Uint8Array(WORD_BYTES) : encodeSafe(code));
  },
};

/** safe(bytes): 4 bytes for every 2. Of an odd length, the first element of the last block holds one byte. */
export function encodeSafe(bytes: Uint8Array): Uint8Array {
  const limbs = Math.ceil(bytes.length / 2);
  const out = new Uint8Array(limbs * LIMB_BYTES);
  if (bytes.length % 2 === 0) writeSafe(bytes, out, 0);
  else {
    const single = LIMBS_PER_BLOCK * Math.floor((limbs - 1) / LIMBS_PER_BLOCK);
    writeSafe(bytes.subarray(0, 2 * single), out, 0);
    out[single * LIMB_BYTES + 3] = bytes[2 * single] as number;
    writeSafe(bytes.subarray(2 * single + 1), out, (single + 1) * LIMB_BYTES);
  }
  return out;
}

/** @param bytes - of even length; twice as many are written at `at`, whose places for zeros are zero already */
function writeSafe(bytes: Uint8Array, out: Uint8Array, at: number): void {
  for (let i = 0; i < bytes.length; i += 2) {
    out[at + 2 * i + 2] = bytes[i] as number;
    out[at + 2 * i + 3] = bytes[i + 1] as number;
  }
}

function hashWord(word: Uint8Array): Uint8Array {
  writeSafe(word, safeWord, 0);
  return poseidon2(safeWord);
}

function encodeLeafLinksInto(out: Uint8Array, offset: number, prev: number, next: number): void {
  writeSafeIndex(out, offset, prev);
  writeSafeIndex(out, offset + SAFE_WORD_BYTES, next);
}

/** safe(word(index)): 64 bytes; an index has at most 48 bits. */
function writeSafeIndex(out: Uint8Array, offset: number, index: number): void {
  out.fill(0, offset, offset + SAFE_WORD_BYTES);
  const low = index % 0x1000000;
  const high = (index - low) / 0x1000000;
  out[offset + 54] = high >>> 16;
  out[offset + 55] = high >>> 8;
  out[offset + 58] = high;
  out[offset + 59] = low >>> 16;
  out[offset + 62] = low >>> 8;
  out[offset + 63] = low;
}
