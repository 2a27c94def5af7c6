/**
 * Bytes in which zeros and well-known words repeat, such as the fields of a header. Parts follow one another:
 *
 *   n, n + 1 bytes   0 <= n <= 127: the bytes
 *   128 + n          0 <= n <= 63: n + 3 zeros
 *   192 + n          a word: one of WORDS, or the caller's
 *
 * A block record of 803 bytes takes 345, and 1.7 us more to read. zlib makes it as short, but takes 60 us.
 */
import {WORD_BYTES} from "../hash/suite.ts";
import {isSame} from "../hex.ts";
import type {BodyReader} from "../record/recordBody.ts";
import {EMPTY_ROOT} from "../trie/trie.ts";

const MOST_BYTES = 128;
const ZEROS = 128;
const LEAST_ZEROS = 3;
const WORD = 192;
const MOST_ZEROS = LEAST_ZEROS + WORD - ZEROS - 1;

/** Of headers: no transactions, receipts or withdrawals; no uncles; no requests. */
const WORDS: readonly Uint8Array[] = [
  EMPTY_ROOT,
  Buffer.from("1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347", "hex"),
  Buffer.from("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "hex"),
];

/** @param word - 32 bytes that may repeat */
export function pack(bytes: Buffer, word: Uint8Array): Buffer {
  const parts: Uint8Array[] = [];
  let from = 0;
  const putUntil = (end: number): void => {
    for (; from < end; from += MOST_BYTES) {
      const part = bytes.subarray(from, Math.min(end, from + MOST_BYTES));
      parts.push(Buffer.of(part.length - 1), part);
    }
  };
  for (let at = 0; at < bytes.length; ) {
    let zeros = 0;
    while (zeros < MOST_ZEROS && bytes[at + zeros] === 0) zeros++;
    const known = findWord(bytes, at, word);
    const isPart = known >= 0 || zeros >= LEAST_ZEROS;
    if (isPart) {
      putUntil(at);
      parts.push(Buffer.of(known >= 0 ? WORD + known : ZEROS + zeros - LEAST_ZEROS));
    }
    at += known >= 0 ? WORD_BYTES : Math.max(1, zeros);
    if (isPart) from = at;
  }
  putUntil(bytes.length);
  return Buffer.concat(parts);
}

/** @returns below 0: there is none */
function findWord(bytes: Buffer, at: number, word: Uint8Array): number {
  for (let i = WORDS.length; i >= 0; i--) {
    const one = WORDS[i] ?? word;
    if (bytes[at] === one[0] && isSame(bytes.subarray(at, at + WORD_BYTES), one)) return i;
  }
  return -1;
}

/** @param reader - all that is left of it. @param word - as for `pack`. @throws StoreError RECORD_DAMAGED */
export function unpack(reader: BodyReader, word: Uint8Array): Buffer {
  const packed = reader.bytes(reader.left);
  let length = 0;
  let end = 0;
  for (let head = packed[0]; head !== undefined; head = packed[end]) {
    if (head > WORD + WORDS.length)
      throw reader.damage(`packed bytes: expected a head of at most ${WORD + WORDS.length}, got ${head}`);
    length += lengthOf(head);
    end += head < ZEROS ? 1 + lengthOf(head) : 1;
  }
  if (end !== packed.length) throw reader.damage(`packed bytes: expected ${end}, got ${packed.length}`);
  const bytes = Buffer.alloc(length);
  for (let at = 0, to = 0; at < end; ) {
    const head = packed[at++] as number;
    const next = to + lengthOf(head);
    if (head >= WORD) bytes.set(WORDS[head - WORD] ?? word, to);
    else if (head < ZEROS) while (to < next) bytes[to++] = packed[at++] as number;
    to = next;
  }
  return bytes;
}

function lengthOf(head: number): number {
  if (head >= WORD) return WORD_BYTES;
  return head < ZEROS ? head + 1 : head - ZEROS + LEAST_ZEROS;
}
