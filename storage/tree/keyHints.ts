/**
 * Remembers the leaf at which a key was last found. This saves a proof the reads of the index: a directory for each
 * nibble and a bucket.
 *
 * A leaf never moves and its position is never used again (docs/proofs.md, section 2). So a hint from one version
 * of a tree is valid in every older or younger version that has the key at that position. It is still only a hint: the
 * code that follows it compares the leaf's hKey, and asks the index if that is another key.
 *
 * The hints are a table of places with four hints of 8 bytes each. The key's first 32 bits choose the place. 13 more
 * bits of the key stand in the hint above the 40 bits of the leaf index, so one lookup in 2 048 of an unknown key
 * follows a wrong hint. With one hint per place, a half full table would have lost a fifth of its keys to others.
 */
import {entryAt, entryCount, entryLeafIndex} from "../page/indexPage.ts";

/** Hints per place: 32 bytes, half a cache line of the processor. */
const WAYS = 4;
const PLACE_BYTES = 8 * WAYS;
const TAG_UNIT = 2 ** 40;
const TAG_MASK = 0x1fff;
/** No hint. Empty places hold this number too: it is the head's leaf index, which is in no index. */
export const NO_HINT = 0;

export class KeyHints {
  private readonly hints: Float64Array;
  private readonly mask: number;

  /** @param bytes - uses at most this much memory: the largest power of two within it, at least 32 */
  constructor(bytes: number) {
    const places = 2 ** Math.floor(Math.log2(Math.max(1, bytes / PLACE_BYTES)));
    this.hints = new Float64Array(places * WAYS);
    this.mask = places - 1;
  }

  /** @param salt - differs between accounts' trees: the same slot has the same hKey. @returns NO_HINT if unknown */
  find(hKey: Uint8Array, salt: number): number {
    const base = tagAt(hKey, 0) * TAG_UNIT;
    const place = this.place(hKey, 0, salt);
    for (let way = 0; way < WAYS; way++) {
      const leafIndex = (this.hints[place + way] as number) - base;
      if (leafIndex > 0 && leafIndex < TAG_UNIT) return leafIndex;
    }
    return NO_HINT;
  }

  /** Notes all entries of a bucket: the other keys may be asked for as well. */
  noteBucket(bucket: Buffer, salt: number): void {
    for (let i = 0; i < entryCount(bucket); i++) {
      const at = entryAt(bucket, i);
      this.note(this.place(bucket, at, salt), tagAt(bucket, at), entryLeafIndex(bucket, i));
    }
  }

  /** Replaces a hint with the same tag, else uses an empty place, else replaces the hint that the tag chooses. */
  private note(place: number, tag: number, leafIndex: number): void {
    let at = place + (tag & (WAYS - 1));
    for (let way = 0; way < WAYS; way++) {
      const hint = this.hints[place + way] as number;
      if (Math.floor(hint / TAG_UNIT) === tag) {
        at = place + way;
        break;
      }
      if (hint === NO_HINT) at = place + way;
    }
    this.hints[at] = tag * TAG_UNIT + leafIndex;
  }

  private place(bytes: Uint8Array, at: number, salt: number): number {
    return ((word32(bytes, at) ^ salt) & this.mask) * WAYS;
  }
}

export const ACCOUNTS_SALT = 0;

/** The salt of an account's slots, from the account's hKey. */
export function saltOf(hKey: Uint8Array): number {
  return word32(hKey, 0);
}

/** The bits that do not choose the place. */
function tagAt(bytes: Uint8Array, at: number): number {
  return (((bytes[at + 4] as number) << 8) | (bytes[at + 5] as number)) & TAG_MASK;
}

function word32(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)
  );
}
