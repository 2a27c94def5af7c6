/**
 * Finds the members of an object in JSON text, so that a value can be sent on byte by byte: a number that JSON.parse
 * would change stays as it is. All of the text is checked, because one wrong byte would spoil a whole batch.
 */
import {isUtf8} from "node:buffer";
import type {Work} from "../fairness/work.ts";
import {findScalarEnd, isSpace, type Next} from "./stepParser.ts";

/** Bytes in one step: some 0.1 ms. */
const STEP_BYTES = 64 * 1024;
/** Answers of tracers nest by the depth of calls. */
const MAX_DEPTH = 2048;
const MAX_SCALAR_BYTES = 400;

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
const ESCAPES: ReadonlySet<number | undefined> = new Set(Buffer.from('"\\/bfnrt'));
const UNICODE = /^[0-9a-fA-F]{4}$/;
const SCALAR = /^(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)$/;

/**
 * @param names - of the members to return. Others are only checked: ten megabytes may hold a million
 * @returns the text of each member's value; of two with one name, that of the last. @throws SyntaxError
 */
export function* scanMembers(
  text: Buffer,
  names: Pick<ReadonlySet<string>, "has">,
): Work<ReadonlyMap<string, Buffer>> {
  if (!isUtf8(text)) throw new SyntaxError();
  const members = new Map<string, Buffer>();
  /** The closing brackets of what is open. */
  const open: number[] = [];
  let next: Next = "value";
  let key = "";
  let valueAt = 0;
  let stepEnd = STEP_BYTES;
  for (let at = 0; ; ) {
    while (isSpace(text[at]) && at < stepEnd) at++;
    if (at >= stepEnd) {
      yield;
      stepEnd = at + STEP_BYTES;
      continue;
    }
    if (at >= text.length) break;
    const byte = text[at] as number;
    const closing = open.at(-1);
    if (closing === undefined && (next !== "value" || byte !== OPEN_BRACE)) throw new SyntaxError();
    if (next === "commaOrEnd") {
      if (open.length === 1 && names.has(key)) members.set(key, text.subarray(valueAt, at));
      if (byte === COMMA) next = closing === CLOSE_BRACE ? "key" : "value";
      else if (byte === closing) open.pop();
      else throw new SyntaxError();
      at++;
    } else if (next === "colon") {
      if (byte !== COLON) throw new SyntaxError();
      next = "value";
      at++;
      if (open.length === 1) valueAt = at;
    } else if ((next === "firstKey" || next === "firstValue") && byte === closing) {
      open.pop();
      next = "commaOrEnd";
      at++;
    } else if (byte === QUOTE) {
      const start = at;
      for (at = passString(text, at + 1, stepEnd); at < 0; at = passString(text, ~at, stepEnd)) {
        yield;
        stepEnd = ~at + STEP_BYTES;
      }
      const isKey: boolean = next === "key" || next === "firstKey";
      if (isKey && open.length === 1) key = JSON.parse(text.toString("utf8", start, at));
      next = isKey ? "colon" : "commaOrEnd";
    } else if (next === "key" || next === "firstKey") throw new SyntaxError();
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (open.length === MAX_DEPTH) throw new SyntaxError();
      open.push(byte === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET);
      next = byte === OPEN_BRACE ? "firstKey" : "firstValue";
      at++;
    } else {
      const end = findScalarEnd(text, at, MAX_SCALAR_BYTES);
      if (!SCALAR.test(text.toString("latin1", at, end))) throw new SyntaxError();
      at = end;
      next = "commaOrEnd";
    }
  }
  if (next !== "commaOrEnd" || open.length > 0) throw new SyntaxError();
  return members;
}

/** @returns the position behind the closing quote; ~position to go on from at `limit`. @throws SyntaxError */
function passString(text: Buffer, from: number, limit: number): number {
  for (let at = from; at < text.length; at++) {
    if (at >= limit) return ~at;
    const byte = text[at] as number;
    if (byte === QUOTE) return at + 1;
    if (byte < SPACE) break;
    if (byte !== BACKSLASH) continue;
    const escaped = text[++at];
    if (escaped === LOWER_U && UNICODE.test(text.toString("latin1", at + 1, at + 5))) at += 4;
    else if (!ESCAPES.has(escaped)) break;
  }
  throw new SyntaxError();
}
