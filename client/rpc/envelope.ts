/** Reads untrusted answers of JSON-RPC 2.0. */
import {isObject, shown} from "../bytes/values.ts";
import {type AnswerDetails, RpcError} from "./rpcError.ts";

/** The id of every call: each has a request of its own. */
export const CALL_ID = 1;

/** A value of an honest answer has more bytes than this. */
const BYTES_PER_VALUE = 32;
/** The values of a shorter answer take little memory in any case. */
const SHORT_BYTES = 65_536;

/** @param maxBytes - of a valid answer. @throws RpcError: the server's, or BAD_ANSWER for anything but an answer */
export function readResult(
  bytes: Uint8Array,
  maxBytes: number,
  redact: (text: string) => string,
  details: AnswerDetails,
): unknown {
  const answer = parseJson(bytes, maxBytes);
  if (!isObject(answer) || !Object.hasOwn(answer, "jsonrpc") || answer.jsonrpc !== "2.0")
    throw badAnswer("the answer is not JSON-RPC 2.0");
  const {id, error} = answer;
  // An error that the server cannot tie to a call has the id null. Some nodes write `"error":null` beside a result.
  const failure = isPresent(error) ? readError(error, redact, details) : undefined;
  if (failure !== undefined && !isPresent(id)) throw failure;
  if (id !== CALL_ID) throw badAnswer(`expected the id ${CALL_ID} in the answer, got ${shown(id)}`);
  if (failure !== undefined) throw failure;
  if (!Object.hasOwn(answer, "result")) throw badAnswer("the answer has neither result nor error");
  return answer.result;
}

export function badAnswer(message: string): RpcError {
  return new RpcError("BAD_ANSWER", message);
}

function parseJson(bytes: Uint8Array, maxBytes: number): unknown {
  const maxValues = Math.ceil(maxBytes / BYTES_PER_VALUE);
  if (bytes.length > SHORT_BYTES && hasMoreValues(bytes, maxValues))
    throw badAnswer(`expected at most ${maxValues} JSON values in the answer, got more`);
  try {
    return JSON.parse(new TextDecoder("utf-8", {fatal: true}).decode(bytes));
  } catch {
    throw badAnswer("the answer is not JSON");
  }
}

function readError(error: unknown, redact: (text: string) => string, details: AnswerDetails): RpcError {
  if (isObject(error)) {
    const {code, message, data} = error;
    if (Number.isSafeInteger(code) && typeof message === "string")
      return new RpcError(code as number, redact(message), {...details, data});
  }
  throw badAnswer("the error in the answer is not one of JSON-RPC 2.0");
}

function isPresent(value: unknown): boolean {
  return (value ?? undefined) !== undefined;
}

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

/**
 * Counts the JSON values of a text before any of them is made: commas, brackets and braces outside of strings. The text
 * need not be JSON.
 *
 * Parsing makes an object of 60 to 250 bytes out of the three bytes `{},`: 33 MB, which 1 000 proofs may have, would
 * take 2.8 GB. An honest answer has at least 60 bytes for each value.
 */
export function hasMoreValues(bytes: Uint8Array, most: number): boolean {
  let count = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = findStringEnd(bytes, at + 1);
    else if ((byte === COMMA || byte === BRACKET || byte === BRACE) && ++count > most) return true;
  }
  return false;
}

/** @returns the place of the closing quote, or the end of the bytes. indexOf is fast in long strings */
function findStringEnd(bytes: Uint8Array, start: number): number {
  for (let at = start; ; at++) {
    at = bytes.indexOf(QUOTE, at);
    if (at === -1) return bytes.length;
    let first = at;
    while (first > start && bytes[first - 1] === BACKSLASH) first--;
    // An even number of backslashes are characters of their own.
    if ((at - first) % 2 === 0) return at;
  }
}
