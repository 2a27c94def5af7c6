/**
 * Measures a body before JSON.parse, which has no limits: nesting, members, fields, elements of the outer array,
 * characters of numbers that may not come out as they were written. It may accept text that is not JSON.
 */

/** Most levels of arrays and objects. A call for a proof in a batch has 4. */
export const MAX_DEPTH = 64;

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

/** JSON.parse hashes and copies each new key, 5 ns a byte. A slot, the longest that users send, has 66 bytes. */
const LONG_KEY = 96;

/** JSON.parse decodes a key with escapes apart, which takes twice as long. Programs write none. */
const ESCAPED_KEY_COST = 2;

/** Behind this many bytes of a string, escapes are not counted. */
const LONG_STRING = 256;
/** Behind this many bytes, memchr finds the end of a string: less than 0.1 ns a byte, but 10 to 25 ns a call. */
const SHORT_STRING = 16;

/** A long run of backslashes is compared in parts of this even length: 5 MB take 1 ms instead of 6. */
const RUN = Buffer.alloc(4096, BACKSLASH);

const NONE = -1;

/** Reads a body from its start to its end, in parts. Hot: runs over every body once, in about 1.5 ns a byte. */
export class BodyScan {
  /** Deepest nesting. Above MAX_DEPTH, the scan ends there, and the other figures cover only the part before. */
  depth = 0;
  /** Array elements plus object fields. An empty array or object counts as if it had one. */
  members = 0;
  /**
   * Object fields, counted by their colons, and objects: each object counts as one more, because JSON.parse may need a
   * new shape for it (0.6 us, more than a new key in one object). A field with a long key or escapes in its key counts
   * as several (LONG_KEY, ESCAPED_KEY_COST).
   */
  fields = 0;
  /** Characters of all odd numbers. Odd means: with a sign, a fraction, an exponent or more than 15 digits. */
  oddCharacters = 0;
  private at = 0;
  private level = 0;
  private commas = 0;
  private isArray = false;
  /** Where the string or number began in which a part ended. */
  private stringStart = NONE;
  private numberStart = NONE;
  /** Of the last string. It is a key if a colon follows. */
  private stringBytes = 0;
  private hasEscape = false;
  private isOdd = false;

  constructor(private readonly body: Buffer) {}

  /** Elements of the outer array, counted by its commas. 0 if the body does not start with `[`. */
  get elements(): number {
    return this.isArray ? this.commas + 1 : 0;
  }

  /** Reads about `byteCount` more bytes. @returns whether that was all */
  read(byteCount: number): boolean {
    const {body} = this;
    const {length} = body;
    const end = Math.min(length, this.at + byteCount);
    let {at, level, members, fields} = this;
    if (this.stringStart !== NONE) at = this.endString(at, end) + 1;
    else if (this.numberStart !== NONE) at = this.endNumber(at, end);
    for (; at < end; at++) {
      const byte = body[at] as number;
      const kind = KINDS[byte];
      if (kind === 0) continue;
      if (kind === IS_QUOTE) {
        this.stringStart = at;
        const pause = Math.min(length, at + LONG_STRING);
        this.hasEscape = false;
        for (at++; at < pause && body[at] !== QUOTE; at++) {
          if (body[at] !== BACKSLASH) continue;
          this.hasEscape = true;
          at++;
        }
        if (at >= pause) at = this.endString(at, end);
        else this.noteString(at);
      } else if (kind === IS_DIGIT || byte === MINUS) {
        this.numberStart = at;
        this.isOdd = kind === IS_IN_NUMBER;
        at = this.endNumber(at + 1, end) - 1;
      } else if (kind === IS_COMMA) {
        members++;
        if (level === 1) this.commas++;
      } else if (kind === IS_COLON)
        fields += (this.hasEscape ? ESCAPED_KEY_COST : 1) + Math.floor(this.stringBytes / LONG_KEY);
      else if (kind === IS_START) {
        if (this.depth === 0) this.isArray = byte === OPEN_BRACKET;
        if (byte === OPEN_BRACE) fields++;
        members++;
        if (++level > this.depth) this.depth = level;
        if (level > MAX_DEPTH) at = length;
      } else if (kind === IS_END) level--;
    }
    this.at = at;
    this.level = level;
    this.members = members;
    this.fields = fields;
    return at >= length;
  }

  /** @returns the position of the closing quote, or where to go on looking for it */
  private endString(from: number, end: number): number {
    const at = findStringEnd(this.body, from, end);
    if (at < 0) return ~at - 1;
    this.noteString(at);
    return at;
  }

  private noteString(end: number): void {
    this.stringBytes = end - this.stringStart - 1;
    this.stringStart = NONE;
  }

  /** @returns the position behind the number, or where to go on */
  private endNumber(from: number, end: number): number {
    const {body} = this;
    let at = from;
    for (; at < end; at++) {
      const next = KINDS[body[at] as number];
      if (next === IS_DIGIT) continue;
      if (next !== IS_IN_NUMBER) break;
      this.isOdd = true;
    }
    if (at === end && end < body.length) return at;
    const byteCount = at - this.numberStart;
    if (this.isOdd || byteCount > EXACT_DECIMALS) this.oddCharacters += byteCount;
    this.numberStart = NONE;
    return at;
  }
}

/**
 * @param start - inside the string, but not behind a backslash that escapes
 * @returns the position of the closing quote, or the body's length if there is none; ~position to go on from once the
 * search has passed `limit`
 */
export function findStringEnd(body: Buffer, start: number, limit: number): number {
  const length = body.length;
  let at = start;
  while (at < limit) {
    // Byte by byte at first, also after each escaped quote that memchr found: another may follow closely.
    const pause = Math.min(length, at + SHORT_STRING);
    for (; at < pause; at++) {
      if (body[at] === QUOTE) return at;
      if (body[at] === BACKSLASH) at++;
    }
    const quote = at < length ? body.indexOf(QUOTE, at) : -1;
    if (quote === -1) return length;
    let escapes = quote;
    while (escapes - RUN.length >= at && RUN.equals(body.subarray(escapes - RUN.length, escapes)))
      escapes -= RUN.length;
    while (escapes > at && body[escapes - 1] === BACKSLASH) escapes--;
    // An odd number of backslashes escapes the quote.
    if ((quote - escapes) % 2 === 0) return quote;
    at = quote + 1;
  }
  return at < length ? ~at : length;
}
