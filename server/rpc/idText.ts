/**
 * Finds the text of values as they were written, since JSON.parse turns 1.0 into 1 and 2^53 + 1 into 2^53. Ids and the
 * answers of an upstream must be sent unchanged. (For ids this is needed only if the body has odd numbers, bodyScan.ts.)
 * The functions run only on text that JSON.parse has accepted.
 */

import {findStringEnd} from "./stringEnd.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const DIGIT_0 = 0x30;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LOWER_A = 0x61;
const LOWER_U = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** `\u` and four hex digits. */
const ESCAPE_BYTES = 6;

/**
 * @param body - valid JSON
 * @returns the text of the last `id` field, for each element of the outer array or for the only element. undefined for an
 * element that has no `id` or is not an object
 */
export function findIdTexts(body: Buffer): (string | undefined)[] {
  const idTexts: (string | undefined)[] = [];
  let at = skipSpace(body, 0);
  if (body[at] !== OPEN_BRACKET) return [readElement(body, at, "id").text];
  at = skipSpace(body, at + 1);
  while (body[at] !== CLOSE_BRACKET) {
    const element = readElement(body, at, "id");
    idTexts.push(element.text);
    at = skipComma(body, element.end);
  }
  return idTexts;
}

/**
 * @param body - valid JSON
 * @returns the text of the last field `name` of the outer object, or undefined if it has none
 */
export function findFieldText(body: Buffer, name: string): string | undefined {
  return readElement(body, skipSpace(body, 0), name).text;
}

function readElement(body: Buffer, start: number, field: string): {text: string | undefined; end: number} {
  if (body[start] !== OPEN_BRACE) return {text: undefined, end: skipValue(body, start)};
  let text: string | undefined;
  let at = skipSpace(body, start + 1);
  while (body[at] !== CLOSE_BRACE) {
    const nameEnd = skipString(body, at);
    // The value follows a colon.
    const valueStart = skipSpace(body, skipSpace(body, nameEnd) + 1);
    const valueEnd = skipValue(body, valueStart);
    // If there are several, the last one counts, as in JSON.parse.
    if (isName(body, at, nameEnd, field)) text = body.toString("utf8", valueStart, valueEnd);
    at = skipComma(body, valueEnd);
  }
  return {text, end: at + 1};
}

/**
 * Compares a name with `field`. Every character of the name may be escaped ("\u0069d"). No character of the fields looked
 * for has a shorter escape.
 *
 * It compares bytes and makes no string, because a body may have thousands of names.
 *
 * @param start - position of the opening quote
 * @param end - position after the closing quote
 */
function isName(body: Buffer, start: number, end: number, field: string): boolean {
  let at = start + 1;
  for (let index = 0; index < field.length; index++) {
    const code = field.charCodeAt(index);
    if (body[at] === code) at++;
    else if (isEscape(body, at, code)) at += ESCAPE_BYTES;
    else return false;
  }
  return at === end - 1;
}

/** Whether `\u` and the four hex digits of `code`, in either case, are at `at`. */
function isEscape(body: Buffer, at: number, code: number): boolean {
  if (body[at] !== BACKSLASH || body[at + 1] !== LOWER_U) return false;
  for (let digit = 0; digit < 4; digit++) {
    const value = (code >> (12 - 4 * digit)) & 0x0f;
    const expected = value < 10 ? DIGIT_0 + value : LOWER_A + value - 10;
    // Setting this bit makes a letter lower case. Digits have it set already.
    if (((body[at + 2 + digit] as number) | 0x20) !== expected) return false;
  }
  return true;
}

function skipSpace(body: Buffer, start: number): number {
  let at = start;
  while (body[at] === 0x20 || body[at] === 0x0a || body[at] === 0x0d || body[at] === 0x09) at++;
  return at;
}

function skipComma(body: Buffer, start: number): number {
  const at = skipSpace(body, start);
  return body[at] === COMMA ? skipSpace(body, at + 1) : at;
}

function skipString(body: Buffer, start: number): number {
  return findStringEnd(body, start + 1) + 1;
}

function skipValue(body: Buffer, start: number): number {
  if (body[start] === QUOTE) return skipString(body, start);
  let depth = 0;
  let at = start;
  while (at < body.length) {
    const byte = body[at] as number;
    if (byte === QUOTE) {
      at = skipString(body, at);
      continue;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (depth === 0 && (byte === COMMA || byte <= 0x20)) return at;
    at++;
  }
  return at;
}
