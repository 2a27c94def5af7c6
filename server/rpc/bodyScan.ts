/**
 * Scans a body before JSON.parse, which has no limits of its own. The scan measures how deep the body nests, how many
 * members and how many fields it has, how many elements its outer array has, and how many characters are in numbers that
 * JSON.parse may not preserve as they were written.
 *
 * It knows only strings, numbers, brackets, commas and colons. It may accept text that is not JSON. JSON.parse refuses it.
 */
import {findStringEnd, LONG_STRING} from "./stringEnd.ts";

/** Most levels of arrays and objects. A call for a proof in a batch has 4. */
export const MAX_DEPTH = 64;

export interface BodyShape {
  /** Deepest nesting. Above MAX_DEPTH, the scan ends there, and the other figures cover only the part before. */
  readonly depth: number;
  /** Array elements plus object fields. An empty array or object counts as if it had one. */
  readonly members: number;
  /**
   * Object fields, counted by their colons, and objects: each object counts as one more, because JSON.parse may need a new
   * shape for it (0.6 us, more than a new key in one object). A field with a long key or escapes in its key counts as
   * several (LONG_KEY, ESCAPED_KEY_COST).
   */
  readonly fields: number;
  /** Elements of the outer array, counted by its commas. 0 if the body does not start with `[`. */
  readonly elements: number;
  /** Characters of all odd numbers. Odd means: with a sign, a fraction, an exponent or more than 15 digits. */
  readonly oddCharacters: number;
}

const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const COLON = 0x3a;
const UPPER_E = 0x45;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LOWER_E = 0x65;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const DIGITS = [0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39];

/** Kinds of bytes. Of a byte that is none of these, such as a space, nothing is counted. */
const IS_DIGIT = 1;
/** May follow a digit, and makes the number odd. */
const IS_IN_NUMBER = 2;
const IS_START = 3;
const IS_END = 4;
const IS_COMMA = 5;
const IS_COLON = 6;
const IS_QUOTE = 7;

/** By byte. One look instead of up to ten comparisons: a body of spaces takes 1.3 ns a byte instead of 7. */
const KINDS: Uint8Array = createKinds();

function createKinds(): Uint8Array {
  const kinds = new Uint8Array(256);
  for (const digit of DIGITS) kinds[digit] = IS_DIGIT;
  for (const byte of [MINUS, PLUS, DOT, UPPER_E, LOWER_E]) kinds[byte] = IS_IN_NUMBER;
  for (const byte of [OPEN_BRACE, OPEN_BRACKET]) kinds[byte] = IS_START;
  for (const byte of [CLOSE_BRACE, CLOSE_BRACKET]) kinds[byte] = IS_END;
  kinds[COMMA] = IS_COMMA;
  kinds[COLON] = IS_COLON;
  kinds[QUOTE] = IS_QUOTE;
  return kinds;
}

/** An integer with at most this many digits is exact in a double and prints as it was written. */
const EXACT_DECIMALS = 15;

/**
 * A field counts once more for every this many bytes of its key, because JSON.parse hashes and copies every new key, which
 * takes 5 ns a byte. The longest keys that users send are slots, with 66 bytes.
 */
const LONG_KEY = 96;

/** JSON.parse decodes a key with escapes apart, which takes twice as long. Programs write none. */
const ESCAPED_KEY_COST = 2;

/** Hot: runs over every body once, in about 1.5 ns a byte. */
export function scanBody(body: Buffer): BodyShape {
  const length = body.length;
  let depth = 0;
  let deepest = 0;
  let members = 0;
  let fields = 0;
  // Of the last string. It is a key if a colon follows.
  let stringBytes = 0;
  let hasEscape = false;
  let commas = 0;
  let isArray = false;
  let oddCharacters = 0;
  for (let at = 0; at < length; at++) {
    const byte = body[at];
    const kind = KINDS[byte];
    if (kind === 0) continue;
    if (kind === IS_QUOTE) {
      const start = at;
      const pause = Math.min(length, at + LONG_STRING);
      hasEscape = false;
      for (at++; at < pause && body[at] !== QUOTE; at++) {
        if (body[at] !== BACKSLASH) continue;
        hasEscape = true;
        at++;
      }
      if (at >= pause) at = findStringEnd(body, at);
      stringBytes = at - start - 1;
    } else if (kind === IS_COMMA) {
      members++;
      if (depth === 1) commas++;
    } else if (kind === IS_COLON)
      fields += (hasEscape ? ESCAPED_KEY_COST : 1) + Math.floor(stringBytes / LONG_KEY);
    else if (kind === IS_START) {
      if (deepest === 0) isArray = byte === OPEN_BRACKET;
      if (byte === OPEN_BRACE) fields++;
      members++;
      if (++depth > deepest) deepest = depth;
      if (depth > MAX_DEPTH) break;
    } else if (kind === IS_END) depth--;
    else if (kind === IS_DIGIT || byte === MINUS) {
      const start = at;
      let isOdd = kind === IS_IN_NUMBER;
      for (at++; at < length; at++) {
        const next = KINDS[body[at] as number];
        if (next === IS_DIGIT) continue;
        if (next !== IS_IN_NUMBER) break;
        isOdd = true;
      }
      if (isOdd || at - start > EXACT_DECIMALS) oddCharacters += at - start;
      at--;
    }
  }
  return {depth: deepest, members, fields, elements: isArray ? commas + 1 : 0, oddCharacters};
}
