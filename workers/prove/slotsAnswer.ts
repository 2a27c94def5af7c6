/**
 * Answers of CCIP-read: slots, and the words of those that hold `bytes` or `string`, as the ABI of what `proveSlots` of
 * contracts/src/ProvenReader.sol returns:
 *
 *   {"data":"0x..."}   block 32 | places of the three parts, 32 each | words: count 32, a number of 32 for each slot
 *                      | header: length 32, bytes, zeros up to a whole word | proof: the same
 */
import {keccak256} from "../../storage/hash/keccak.ts";
import {WORD_BYTES} from "../../storage/hash/suite.ts";
import {readBigEndian} from "../../storage/rlp/rlpReader.ts";
import {CallFailure} from "../messages/failure.ts";
import {
  ADDRESS_AT,
  KEYS_AT,
  MAX_BYTES_WORDS,
  type ProofForm,
  packedBytes,
  readCallBlock,
  readKeyCount,
  writeCallHead,
} from "../messages/packedCall.ts";
import type {AnswerText} from "./answerText.ts";

const INTEGER_BYTES = 6;
const ZEROS = new Uint8Array(WORD_BYTES);
const HEAD_WORDS = 4;

/**
 * @param call - packed, of the forms SLOTS and TRIE_SLOTS. @param form - of the multiproof
 * @param readSlot - the slot's value without leading zeros. @throws CallFailure if the slot's bytes are too many
 * @returns a call for a multiproof, and for each slot how many words its bytes have elsewhere
 */
export function addWords(call: Buffer, form: ProofForm, readSlot: (slot: Buffer) => Uint8Array) {
  const slotCount = readKeyCount(call, 0) - 1;
  const bits = readBigEndian(call.subarray(KEYS_AT, packedBytes(1)));
  const further: Buffer[] = [];
  const words: number[] = [];
  for (let i = 0; i < slotCount; i++) {
    const slot = call.subarray(packedBytes(1 + i), packedBytes(2 + i));
    const isDynamic = (bits >> BigInt(i)) & 1n;
    const count = isDynamic === 1n ? wordCount(slot, readSlot(slot)) : 0;
    const first = count === 0 ? 0n : readBigEndian(keccak256(slot));
    for (let k = 0; k < count; k++) further.push(encodeWord(first + BigInt(k)));
    words.push(count);
  }
  const head = Buffer.alloc(KEYS_AT);
  writeCallHead(head, 0, readCallBlock(call, 0), slotCount + further.length, form);
  call.copy(head, ADDRESS_AT, ADDRESS_AT, ADDRESS_AT + 20);
  return {call: Buffer.concat([head, call.subarray(packedBytes(1)), ...further]), words};
}

/** Solidity keeps up to 31 bytes in the slot itself. Else the slot is twice their number, plus one. */
function wordCount(slot: Buffer, value: Uint8Array): number {
  const number = readBigEndian(value);
  if ((number & 1n) === 0n) return 0;
  const bytes = number >> 1n;
  const most = MAX_BYTES_WORDS * WORD_BYTES;
  if (bytes <= most) return Math.ceil(Number(bytes) / WORD_BYTES);
  const detail = `slot 0x${slot.toString("hex")}: expected bytes or a string of at most ${most} bytes, got ${bytes}`;
  throw new CallFailure({failure: "CALL_INVALID", detail});
}

function encodeWord(value: bigint): Buffer {
  const digits = BigInt.asUintN(8 * WORD_BYTES, value).toString(16);
  return Buffer.from(digits.padStart(2 * WORD_BYTES, "0"), "hex");
}

/** Appends the bytes of the answer. @param writeProof - appends those of the proof */
export function writeAnswer(
  text: AnswerText,
  block: number,
  words: readonly number[],
  header: Uint8Array,
  writeProof: () => void,
): void {
  const headerAt = (HEAD_WORDS + 1 + words.length) * WORD_BYTES;
  const proofAt = headerAt + WORD_BYTES + header.length + paddingOf(header.length);
  writeNumbers(text, [
    block,
    HEAD_WORDS * WORD_BYTES,
    headerAt,
    proofAt,
    words.length,
    ...words,
    header.length,
  ]);
  text.reserve(header.length + WORD_BYTES);
  text.raw(header);
  text.part(ZEROS, 0, paddingOf(header.length));
  writeNumbers(text, [0]);
  const start = text.size;
  writeProof();
  const length = text.size - start;
  text.integerAt(start - INTEGER_BYTES, length, INTEGER_BYTES);
  text.reserve(WORD_BYTES);
  text.part(ZEROS, 0, paddingOf(length));
}

/** Zeros that follow so many bytes up to a whole word. */
function paddingOf(length: number): number {
  return -length & (WORD_BYTES - 1);
}

function writeNumbers(text: AnswerText, values: readonly number[]): void {
  text.reserve(values.length * WORD_BYTES);
  for (const value of values) {
    text.part(ZEROS, INTEGER_BYTES, WORD_BYTES);
    text.integer(value, INTEGER_BYTES);
  }
}
