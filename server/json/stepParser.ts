/**
 * JSON.parse of a long body in short steps. JSON.parse reads strings, numbers, and runs of elements or fields that fit
 * a step. What is around them is read here. So the result, and what is refused, are those of JSON.parse.
 */
import {isAscii, transcode} from "node:buffer";
import type {Work} from "../fairness/work.ts";
import {findStringEnd} from "./bodyScan.ts";

/** What is read in one step. A distinct key or a new shape of object takes up to 1.5 us (envelope.ts). */
interface StepSize {
  readonly bytes: number;
  readonly tokens: number;
}

const STEP: StepSize = {bytes: 64 * 1024, tokens: 512};
/** A search for a run counts as a token for so many bytes. */
const TOKEN_BYTES = 8;
/** A run has at most this part of a step's tokens in commas and colons: a longer search may be in vain. */
const RUN_PART = 1 / 2;
/** How often a byte may be searched in vain, on average. Without a limit, a deep body is searched 64 times. */
const VAIN_SEARCHES = 4;
/** Long strings are made of parts. Strings of more than 128 KB, which V8 does not move, took up to 13 ms of garbage. */
const STRING_STEPS = 2;
/** No number within a body's limits is longer. */
const MAX_SCALAR_BYTES = 64 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LOWER_U = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;

type Fields = Record<string, unknown>;

/** What comes next. "firstValue" and "firstKey": or the closing bracket. */
export type Next = "value" | "firstValue" | "key" | "firstKey" | "colon" | "commaOrEnd";

/** Decodes UTF-8. Keeps a byte order mark, which JSON.parse refuses. @param bytes - valid UTF-8 */
export function decodeText(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString("latin1") : transcode(bytes, "utf8", "ucs2").toString("ucs2");
}

/** @param body - valid UTF-8, with a limited depth. @throws SyntaxError for text that is not JSON */
export function* parseInSteps(body: Buffer, size = STEP): Work<unknown> {
  const outer: (unknown[] | Fields)[] = [];
  /** The root is the only element of the first one. */
  let container: unknown[] | Fields = [];
  let next: Next = "value";
  let key = "";
  let tokens = 0;
  /** What is before it is read token by token. */
  let searchFrom = 0;
  /** Bytes that were searched in vain. The first ones are free. */
  let inVain = -size.bytes;
  let stepEnd = size.bytes;
  for (let at = 0; ; ) {
    while (isSpace(body[at]) && at < stepEnd) at++;
    if (at >= stepEnd || ++tokens > size.tokens) {
      yield;
      tokens = 0;
      stepEnd = at + size.bytes;
      continue;
    }
    const byte = body[at];
    const isArray = Array.isArray(container);
    if (next === "commaOrEnd" && outer.length === 0) {
      if (at < body.length || container.length !== 1) throw new SyntaxError();
      return (container as unknown[])[0];
    }
    if (next === "commaOrEnd" && byte === COMMA) {
      next = isArray ? "value" : "key";
      at++;
    } else if (next === "colon" && byte === COLON) {
      next = "value";
      at++;
    } else if (
      (next === "commaOrEnd" && byte === (isArray ? CLOSE_BRACKET : CLOSE_BRACE)) ||
      (next === "firstValue" && byte === CLOSE_BRACKET) ||
      (next === "firstKey" && byte === CLOSE_BRACE)
    ) {
      container = outer.pop() as typeof container;
      next = "commaOrEnd";
      at++;
    } else if (next === "commaOrEnd" || next === "colon") throw new SyntaxError();
    else if (at >= searchFrom && (isArray || next !== "value")) {
      const [end, searched] = findRun(body, at, size);
      tokens += (searched - at) / TOKEN_BYTES;
      inVain += searched - end;
      if (end > at) {
        addRun(container, decodeText(body.subarray(at, end)));
        next = "commaOrEnd";
        at = end;
      }
      searchFrom = Math.max(at + 1, inVain / VAIN_SEARCHES);
    } else if (byte === QUOTE) {
      let text = "";
      for (at++; ; ) {
        const end = findPartEnd(body, at, at + STRING_STEPS * size.bytes);
        text += JSON.parse(`"${decodeText(body.subarray(at, end))}"`) as string;
        at = end;
        if (body[at] === QUOTE) break;
        yield;
      }
      at++;
      if (next === "key" || next === "firstKey") {
        key = text;
        next = "colon";
      } else {
        add(container, key, text);
        next = "commaOrEnd";
      }
    } else if (next === "key" || next === "firstKey") throw new SyntaxError();
    else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) {
      const inner = byte === OPEN_BRACKET ? [] : {};
      add(container, key, inner);
      outer.push(container);
      container = inner;
      next = byte === OPEN_BRACKET ? "firstValue" : "firstKey";
      at++;
    } else {
      const end = findScalarEnd(body, at, MAX_SCALAR_BYTES);
      add(container, key, JSON.parse(decodeText(body.subarray(at, end))));
      next = "commaOrEnd";
      at = end;
    }
  }
}

/**
 * @param from - where an element or field may begin
 * @returns the end of the run, or `from` if there is none; the end of the search
 */
function findRun(body: Buffer, from: number, {bytes, tokens}: StepSize): [number, number] {
  const limit = Math.min(body.length, from + bytes);
  let level = 0;
  let marks = 0;
  let end = from;
  let at = from;
  for (; at < limit && marks < RUN_PART * tokens; at++) {
    const byte = body[at];
    if (byte === QUOTE) {
      at = findStringEnd(body, at + 1, limit);
      if (at < 0) at = ~at;
    } else if (byte === COMMA || byte === COLON) {
      marks++;
      if (level === 0 && byte === COMMA) end = at;
    } else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) level++;
    else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) {
      if (--level > 0) continue;
      end = level < 0 ? at : at + 1;
      if (level < 0) break;
    }
  }
  return [end, Math.max(at, end)];
}

/**
 * @param from - in a string, at the start of a character or escape
 * @returns where the string ends, or about `limit` if it is longer, again at the start of a character or escape
 */
function findPartEnd(body: Buffer, from: number, limit: number): number {
  let plain = body.subarray(from, limit);
  for (const byte of [QUOTE, BACKSLASH])
    if (plain.includes(byte)) plain = plain.subarray(0, plain.indexOf(byte));
  for (let at = from + plain.length; at < body.length; ) {
    const byte = body[at] as number;
    // The other bytes of a character.
    const isInside = (byte & 0xc0) === 0x80;
    if (byte === QUOTE || (at >= limit && !isInside)) return at;
    if (byte !== BACKSLASH) at++;
    else at += body[at + 1] === LOWER_U ? 6 : 2;
  }
  throw new SyntaxError();
}

/** @returns the end of a number, true, false, null or other text, of which at most `maxBytes` are read */
export function findScalarEnd(body: Buffer, from: number, maxBytes: number): number {
  const end = Math.min(body.length, from + maxBytes);
  for (let at = from; at < end; at++) {
    const byte = body[at];
    if (byte === COMMA || byte === CLOSE_BRACKET || byte === CLOSE_BRACE || isSpace(byte)) return at;
  }
  return end;
}

/** @param text - elements or fields, with commas between */
function addRun(container: unknown[] | Fields, text: string): void {
  if (Array.isArray(container)) container.push(...(JSON.parse(`[${text}]`) as unknown[]));
  else
    for (const [key, value] of Object.entries(JSON.parse(`{${text}}`) as Fields)) add(container, key, value);
}

/** As in JSON.parse: the last field of a name counts, and __proto__ is a field like any other. */
function add(container: unknown[] | Fields, key: string, value: unknown): void {
  if (Array.isArray(container)) container.push(value);
  else if (key === "__proto__")
    Object.defineProperty(container, key, {value, writable: true, enumerable: true, configurable: true});
  else container[key] = value;
}

/** With a Set of the four, Node 24.9 took up to 68 ms for a body of spaces. */
export function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
