/** A tree part of a multiproof as bytes (docs/proofs.md, sections 9.2 and 9.3). */
import {TREE_HEIGHT, WORD_BYTES} from "../../storage/hash/suite.ts";
import type {AccountCode} from "../../storage/tree/account.ts";
import {PRESENT} from "../../storage/tree/keyTable.ts";
import {stripZeros} from "../../storage/tree/shortNumber.ts";
import type {AnswerText} from "./answerText.ts";
import type {PartForm} from "./partForm.ts";

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

export const partBytes: PartForm = {
  openPart(text, nextFreeNode, {lefts, rights, leafIndexes}) {
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
  },
  openRecord(text, _leaf, _leafIndex, {prev, next, bitmap}) {
    text.reserve(HEAD_BYTES);
    text.integer(prev, INDEX_BYTES);
    text.integer(next, INDEX_BYTES);
    text.raw(bitmap);
  },
  account(text, {nonce, balance, code, storage}, hasPart) {
    text.reserve(ACCOUNT_BYTES);
    text.byte((storage === undefined ? 0 : HAS_STORAGE) | (code === undefined ? 0 : HAS_CODE) | nonce.length);
    text.raw(nonce);
    writeNumber(text, balance);
    if (code !== undefined) writeCode(text, code);
    if (storage !== undefined && !hasPart) text.raw(storage.storageRoot);
  },
  slot(text, value) {
    text.reserve(NUMBER_BYTES);
    writeNumber(text, value);
  },
  neighbour(text, hashes) {
    text.reserve(hashes.length);
    text.raw(hashes);
  },
  closeRecord(text, {siblingsIn, siblingsAt, siblingCount}) {
    text.reserve(TREE_HEIGHT * WORD_BYTES);
    for (let i = 0; i < siblingCount; i++) text.word(siblingsIn[i] as Uint8Array, siblingsAt[i] as number);
  },
  closePart() {},
};

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
