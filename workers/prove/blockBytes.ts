/** The block that an answer in bytes is about (docs/proofs.md, 15.1): number u48 | hash 32 | stateRoot 32. */
import type {BlockRecord} from "../../storage/block/blockRecord.ts";
import {WORD_BYTES} from "../../storage/hash/suite.ts";
import type {AnswerText} from "./answerText.ts";

const NUMBER_BYTES = 6;
export const BLOCK_BYTES: number = NUMBER_BYTES + 2 * WORD_BYTES;

/** Appends the block. BLOCK_BYTES must be reserved. */
export function writeBlock(text: AnswerText, number: number, {header, stateRoot}: BlockRecord): void {
  text.integer(number, NUMBER_BYTES);
  text.raw(header.hash);
  text.raw(stateRoot);
}
