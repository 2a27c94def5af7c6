/** A tree part of a multiproof as JSON (docs/proofs.md, section 11). */
import {ACCOUNT_VALUE_BYTES, TREE_HEIGHT, WORD_BYTES} from "../../storage/hash/suite.ts";
import {encodeAccountValueInto} from "../../storage/tree/account.ts";
import type {EmptyTree} from "../../storage/tree/emptyTree.ts";
import {PRESENT} from "../../storage/tree/keyTable.ts";
import {BITMAP_BYTES} from "../../storage/tree/multiPath.ts";
import {writeWordInto} from "../../storage/tree/shortNumber.ts";
import type {PartForm} from "./partForm.ts";

const COMMA = 0x2c;
// Bytes, because a short text takes Buffer.write 0.1 us and there are five in a record.
const VALUE = Buffer.from(',"value":', "latin1");
const STORAGE_TREE = Buffer.from(',"storageTree":', "latin1");
const H_KEY = Buffer.from(',"hKey":', "latin1");
const H_VAL = Buffer.from(',"hVal":', "latin1");
const BITMAP = Buffer.from(',"bitmap":', "latin1");
const SIBLINGS = Buffer.from(',"siblings":[', "latin1");
const END = Buffer.from("]}", "latin1");
/** Upper bounds in bytes. */
const FRAME_TEXT_BYTES = 128;
/** `{"left":16383,"right":16383},` */
const KEY_TEXT_BYTES = 32;
const SIBLING_TEXT_BYTES = 2 * WORD_BYTES + 5;
const CONTENT_TEXT_BYTES = FRAME_TEXT_BYTES + 2 * ACCOUNT_VALUE_BYTES;
const END_TEXT_BYTES = FRAME_TEXT_BYTES + TREE_HEIGHT * SIBLING_TEXT_BYTES;

export function createPartText(empty: EmptyTree): PartForm {
  const value = new Uint8Array(ACCOUNT_VALUE_BYTES);
  return {
    openPart(text, nextFreeNode, {lefts, rights}) {
      text.reserve(FRAME_TEXT_BYTES + lefts.length * KEY_TEXT_BYTES);
      text.ascii(`{"nextFreeNode":${nextFreeNode},"keys":[`);
      for (let key = 0; key < lefts.length; key++) {
        if (key > 0) text.byte(COMMA);
        const [left, right] = [lefts[key], rights[key]];
        text.ascii(right === PRESENT ? `{"leaf":${left}}` : `{"left":${left},"right":${right}}`);
      }
      text.ascii('],"leaves":[');
    },
    openRecord(text, leaf, leafIndex, {prev, next}) {
      text.reserve(FRAME_TEXT_BYTES);
      text.ascii(`${leaf === 0 ? "" : ","}{"leafIndex":${leafIndex},"prev":${prev},"next":${next}`);
    },
    account(text, account, hasPart) {
      text.reserve(CONTENT_TEXT_BYTES);
      encodeAccountValueInto(value, 0, account, empty);
      text.raw(VALUE);
      text.quotedHex(value, 0, ACCOUNT_VALUE_BYTES);
      if (hasPart) text.raw(STORAGE_TREE);
    },
    slot(text, number) {
      text.reserve(CONTENT_TEXT_BYTES);
      writeWordInto(value, 0, number);
      text.raw(VALUE);
      text.quotedHex(value, 0, WORD_BYTES);
    },
    neighbour(text, hashes) {
      text.reserve(CONTENT_TEXT_BYTES);
      text.raw(H_KEY);
      text.quotedHex(hashes, 0, WORD_BYTES);
      text.raw(H_VAL);
      text.quotedHex(hashes, WORD_BYTES, 2 * WORD_BYTES);
    },
    closeRecord(text, {bitmap, siblingsIn, siblingsAt, siblingCount}) {
      text.reserve(END_TEXT_BYTES);
      text.raw(BITMAP);
      text.quotedHex(bitmap, 0, BITMAP_BYTES);
      text.raw(SIBLINGS);
      for (let i = 0; i < siblingCount; i++) {
        if (i > 0) text.byte(COMMA);
        const at = siblingsAt[i] as number;
        text.quotedHex(siblingsIn[i] as Uint8Array, at, at + WORD_BYTES);
      }
      text.raw(END);
    },
    closePart(text) {
      text.reserve(FRAME_TEXT_BYTES);
      text.raw(END);
    },
  };
}
