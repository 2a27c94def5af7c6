/**
 * Where keys stood when they were last looked up: spares a proof the index, a directory for each nibble and a bucket.
 *
 * A leaf never moves and its position is never used again (spec/tree.md 3), so what a younger or older version of a tree
 * says of a key holds in every version that has the key in that place. Only a hint all the same: whoever follows it
 * compares the leaf's hKey, and asks the index where it is another.
 *
 * A table of one entry per place, 8 bytes each: the key's first 32 bits choose the place, 13 further bits stand in the
 * entry above the 40 of the leaf index, so that one lookup in 8 192 of an unknown key follows a wrong hint.
 */
import {ENTRY_BYTES, entryLeafIndex} from "../page/indexPage.ts";

const HINT_BYTES = 8;
const TAG_UNIT = 2 ** 40;
const TAG_MASK = 0x1fff;
/** No hint. Also what stands where nothing was noted: the head's leaf index, which no index has. */
export const NO_HINT = 0;

export class KeyHints {
  private readonly entries: Float64Array;
  private readonly mask: number;

  /** @param bytes - at most so many are used: a power of two, at least 8 */
  constructor(bytes: number) {
    const places = 2 ** Math.floor(Math.log2(Math.max(1, bytes / HINT_BYTES)));
    this.entries = new Float64Array(places);
    this.mask = places - 1;
  }

  /**
   * @param salt - 32 bits that tell the trees of different accounts apart: the same slot has the same hKey in all
   * @returns a leaf index, or NO_HINT
   */
  find(hKey: Uint8Array, salt: number): number {
    const entry = this.entries[this.place(hKey, 0, salt)] as number;
    const tag = Math.floor(entry / TAG_UNIT);
    return tag === tagAt(hKey, 0) ? entry - tag * TAG_UNIT : NO_HINT;
  }

  /** Notes a whole bucket (indexPage.ts): its other keys are here already, and may be asked for as well. */
  noteBucket(entries: Buffer, salt: number): void {
    for (let at = 0, i = 0; at < entries.length; at += ENTRY_BYTES, i++)
      this.entries[this.place(entries, at, salt)] =
        tagAt(entries, at) * TAG_UNIT + entryLeafIndex(entries, i);
  }

  private place(bytes: Uint8Array, at: number, salt: number): number {
    return (word32(bytes, at) ^ salt) & this.mask;
  }
}

/** The account tree's salt. */
export const ACCOUNTS_SALT = 0;

/** The salt of an account's slots, from the account's hKey. */
export function saltOf(hKey: Uint8Array): number {
  return word32(hKey, 0);
}

/** Bits that do not choose the place. */
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
