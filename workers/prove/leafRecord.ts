/**
 * The leaves of ranges and changes as bytes (docs/proofs.md, 15.2). Links have as many bytes as the tree's last index
 * needs.
 *
 *   account   flags u8 | key | prev | next | nonce | balance number | [codeSize number, codeHash 32, keccakCodeHash 32] | [storageRoot 32]
 *   slot      flags u8 | key | prev | next | value
 *   key       address 20 or slot number; nothing if the reader has it
 */
import {WORD_BYTES} from "../../storage/hash/suite.ts";
import {entryEnd, entryNext, entryPrev, entryValueAt, findEntry} from "../../storage/page/leafPage.ts";
import {StoredParts} from "../../storage/tree/account.ts";
import {FIRST_FREE_NODE} from "../../storage/tree/emptyTree.ts";
import type {AnswerText} from "./answerText.ts";

/** Bits of an account's flags. The others are the length of the nonce. */
const HAS_CODE = 0x40;
const HAS_STORAGE = 0x80;
/** More than any nonce has: an account that was removed. */
const ACCOUNT_REMOVED = 0x0f;
const SLOT_REMOVED = 0;
const CODE_SIZE_BYTES = 4;

/** Upper bound of one leaf: flags, key, links, nonce, balance, code and storageRoot. */
export const LEAF_BYTES: number =
  1 + WORD_BYTES + 2 * 5 + 8 + (1 + WORD_BYTES) + (1 + CODE_SIZE_BYTES) + 3 * WORD_BYTES;

export interface LeafForm {
  /** false: they are slots. */
  readonly isAccounts: boolean;
  /** Bytes of a link. */
  readonly width: number;
}

/** @param positions - nextFreeNode, or the larger one of two trees. @returns bytes of a link */
export function linkWidth(positions: number): number {
  let width = 1;
  while (256 ** width < positions) width++;
  return width;
}

const parts = new StoredParts();

/**
 * Appends a leaf that is neither head nor tail, or that was removed. Hot. LEAF_BYTES must be reserved.
 * @param key - 20 bytes of an address, or a slot without leading zeros; undefined: the reader has it
 * @throws StoreError RECORD_DAMAGED
 */
export function writeLeaf(
  text: AnswerText,
  form: LeafForm,
  page: Buffer,
  leafIndex: number,
  key: Uint8Array | undefined,
): void {
  const entry = findEntry(page, leafIndex);
  if (entry < 0) {
    text.byte(form.isAccounts ? ACCOUNT_REMOVED : SLOT_REMOVED);
    return;
  }
  const [valueAt, end] = [entryValueAt(entry), entryEnd(page, leafIndex)];
  if (!form.isAccounts) {
    text.byte(end - valueAt);
    if (key !== undefined) text.byte(key.length);
  } else {
    parts.find(page, valueAt, end);
    text.byte(parts.nonceBytes | (parts.codeAt >= 0 ? HAS_CODE : 0) | (hasStorage() ? HAS_STORAGE : 0));
  }
  if (key !== undefined) text.part(key, 0, key.length);
  writeLinks(text, form.width, page, entry);
  if (form.isAccounts) writeAccount(text, page);
  else text.part(page, valueAt, end);
}

/** A storage tree to which only zeros were written has the root of a new tree, and stands as no storage. */
function hasStorage(): boolean {
  return parts.nextFreeSlot > FIRST_FREE_NODE;
}

/** Appends prev and next of the leaf at `entry` of its page. */
export function writeLinks(text: AnswerText, width: number, page: Buffer, entry: number): void {
  text.integer(entryPrev(page, entry), width);
  text.integer(entryNext(page, entry), width);
}

/** Appends what follows the links. */
function writeAccount(text: AnswerText, page: Buffer): void {
  const {nonceAt, nonceBytes, balanceAt, balanceBytes, codeAt, codeSize, storageAt} = parts;
  text.part(page, nonceAt, nonceAt + nonceBytes);
  text.part(page, balanceAt, balanceAt + 1 + balanceBytes);
  if (codeAt >= 0) {
    const sizeBytes = linkWidth(codeSize + 1);
    text.byte(sizeBytes);
    text.integer(codeSize, sizeBytes);
    text.part(page, codeAt, codeAt + 2 * WORD_BYTES);
  }
  if (hasStorage()) text.word(page, storageAt);
}
