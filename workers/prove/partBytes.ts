/**
 * Writes a tree part of a multiproof (docs/proofs.md, sections 9.2 and 9.3). The order of the calls:
 *
 *   openPart  { openRecord  [writeAccount [a part] | writeSlot | writeNeighbour]  closeRecord }
 *
 * Head and tail have no content.
 */
import {TREE_HEIGHT, WORD_BYTES} from "../../storage/hash/suite.ts";
import type {Account, AccountCode} from "../../storage/tree/account.ts";
import {type KeyTable, PRESENT} from "../../storage/tree/keyTable.ts";
import type {MultiPath} from "../../storage/tree/multiPath.ts";
import {stripZeros} from "../../storage/tree/shortNumber.ts";
import type {AnswerText} from "./answerText.ts";

/** In the key table: the key is absent, and a right leaf follows. */
const ABSENT = 0x8000;
/** Bits of an account's flags. The others are the length of the nonce. */
const HAS_STORAGE = 0x80;
const HAS_CODE = 0x40;
const INDEX_BYTES = 5;
const LEAF_NUMBER_BYTES = 2;
/** Upper bounds. */
const HEAD_BYTES = 3 * INDEX_BYTES;
const NUMBER_BYTES = 1 + WORD_BYTES;
const ACCOUNT_BYTES = 3 * NUMBER_BYTES + 3 * WORD_BYTES;

export function openPart(
  text: AnswerText,
  nextFreeNode: number,
  {lefts, rights, leafIndexes}: KeyTable,
): void {
  text.reserve(HEAD_BYTES + 2 * LEAF_NUMBER_BYTES * lefts.length + INDEX_BYTES * leafIndexes.length);
  text.integer(nextFreeNode, INDEX_BYTES);
  text.integer(leafIndexes.length, LEAF_NUMBER_BYTES);
  for (let key = 0; key < lefts.length; key++) {
    const [left, right] = [lefts[key] as number, rights[key] as number];
    text.integer(right === PRESENT ? left : ABSENT + left, LEAF_NUMBER_BYTES);
    if (right !== PRESENT) text.integer(right, LEAF_NUMBER_BYTES);
  }
  for (let leaf = 0; leaf < leafIndexes.length; leaf++)
    text.integer(leafIndexes[leaf] as number, INDEX_BYTES);
}

/** @param path - read for the record's leaf */
export function openRecord(text: AnswerText, {prev, next, bitmap}: MultiPath): void {
  text.reserve(HEAD_BYTES);
  text.integer(prev, INDEX_BYTES);
  text.integer(next, INDEX_BYTES);
  text.raw(bitmap);
}

/** @param hasPart - its storage part follows */
export function writeAccount(
  text: AnswerText,
  {nonce, balance, code, storage}: Account,
  hasPart: boolean,
): void {
  text.reserve(ACCOUNT_BYTES);
  text.byte((storage === undefined ? 0 : HAS_STORAGE) | (code === undefined ? 0 : HAS_CODE) | nonce.length);
  text.raw(nonce);
  writeNumber(text, balance);
  if (code !== undefined) writeCode(text, code);
  if (storage !== undefined && !hasPart) text.raw(storage.storageRoot);
}

/** @param value - without leading zeros */
export function writeSlot(text: AnswerText, value: Uint8Array): void {
  text.reserve(NUMBER_BYTES);
  writeNumber(text, value);
}

/** @param hashes - hKey and hVal */
export function writeNeighbour(text: AnswerText, hashes: Uint8Array): void {
  text.reserve(hashes.length);
  text.raw(hashes);
}

/** @param path - as read for `openRecord` */
export function closeRecord(text: AnswerText, {siblingsIn, siblingsAt, siblingCount}: MultiPath): void {
  text.reserve(TREE_HEIGHT * WORD_BYTES);
  for (let i = 0; i < siblingCount; i++) text.word(siblingsIn[i] as Uint8Array, siblingsAt[i] as number);
}

function writeCode(text: AnswerText, {codeSize, codeHash, keccakCodeHash}: AccountCode): void {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(codeSize);
  writeNumber(text, stripZeros(size));
  text.raw(codeHash);
  text.raw(keccakCodeHash);
}

/** @param number - without leading zeros */
function writeNumber(text: AnswerText, number: Uint8Array): void {
  text.byte(number.length);
  text.raw(number);
}
