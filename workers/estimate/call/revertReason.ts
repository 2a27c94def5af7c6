/** Puts a contract's revert data into words: Solidity's Error(string) and Panic(uint256). */

import {WORD_BYTES} from "../../../storage/hash/suite.ts";

/** keccak256("Error(string)") and keccak256("Panic(uint256)"), the first 4 bytes. */
const ERROR_SELECTOR = 0x08c379a0;
const PANIC_SELECTOR = 0x4e487b71;
const SELECTOR_BYTES = 4;
const MAX_REASON_CHARACTERS = 1024;

/** docs.soliditylang.org, "Panic via assert and Error via require". */
const PANICS: Readonly<Record<string, string>> = {
  "0": "generic panic",
  "1": "assert(false)",
  "11": "arithmetic underflow or overflow",
  "12": "division or modulo by zero",
  "21": "enum overflow",
  "22": "invalid encoded storage byte array accessed",
  "31": "out-of-bounds array access; popping on an empty array",
  "32": "out-of-bounds access of an array or bytesN",
  "41": "out of memory",
  "51": "uninitialized function",
};

/** @returns undefined for anything else */
export function decodeRevertReason(returned: Uint8Array): string | undefined {
  const bytes = Buffer.from(returned.buffer, returned.byteOffset, returned.length);
  if (bytes.length < SELECTOR_BYTES + WORD_BYTES) return undefined;
  const selector = bytes.readUInt32BE(0);
  const body = bytes.subarray(SELECTOR_BYTES);
  if (selector === PANIC_SELECTOR && body.length === WORD_BYTES) return describePanic(body);
  return selector === ERROR_SELECTOR ? decodeString(body) : undefined;
}

function describePanic(word: Buffer): string {
  const code = BigInt(`0x${word.toString("hex")}`).toString(16);
  return `panic: ${PANICS[code] ?? "unknown panic code"} (0x${code})`;
}

/** Reads one ABI-encoded string: an offset, and at that offset its length and bytes. */
function decodeString(body: Buffer): string | undefined {
  const offset = readLength(body, 0);
  const length = offset === undefined ? undefined : readLength(body, offset);
  if (offset === undefined || length === undefined) return undefined;
  const start = offset + WORD_BYTES;
  if (start + length > body.length) return undefined;
  return body.toString("utf8", start, start + length).slice(0, MAX_REASON_CHARACTERS);
}

/** Reads a word as a length or an offset. @returns undefined if it reaches past the end */
function readLength(body: Buffer, at: number): number | undefined {
  if (at + WORD_BYTES > body.length) return undefined;
  const word = BigInt(`0x${body.toString("hex", at, at + WORD_BYTES)}`);
  return word > BigInt(body.length) ? undefined : Number(word);
}
