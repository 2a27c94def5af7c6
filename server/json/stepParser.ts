/**
 * JSON.parse of a long body in short steps:
 *
 *   [ {"id":1,..}, {"id":2,..}, {"id":3,"params":[{"k1":.., "k2":.., .. "k999":..}, ..]}, {"id":4,..}, ..
 *     |<-------- run -------->|  |<-- longer than a run: parsed as a body of its own -->|  |<-- run --
 *
 * A run is some neighbouring elements of one array or object. Brackets, commas and colons delimit elements (bodyScan.ts).
 * Only JSON.parse reads the text between them, so the result, and whether the text is valid, are those of JSON.parse.
 */
import {isAscii, transcode} from "node:buffer";
import type {Work} from "../fairness/work.ts";

interface RunSize {
  /** At least 8. */
  readonly bytes: number;
  readonly marks: number;
}

/** A distinct key or a new shape of object takes JSON.parse up to 1.5 us (envelope.ts), and each has a mark. */
const RUN: RunSize = {bytes: 16 * 1024, marks: 512};
/**
 * A part of a long string has this many times the bytes of a run. V8 does not move a string of more than 128 KB when it
 * collects garbage, which took up to 13 ms for one body's.
 */
const STRING_RUNS = 10;
/** Spaces that are skipped, or marks that are paired, in one step. */
const STEP = 64 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;
const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** An escape has at most this many bytes after its backslash. */
const ESCAPE_BYTES = 5;

/** A part of the body, and the marks in it. */
interface Range {
  readonly from: number;
  readonly to: number;
  readonly firstMark: number;
  readonly endMark: number;
}

/** Decodes UTF-8. Keeps a byte order mark, which JSON.parse refuses. @param bytes - valid UTF-8 */
export function decodeText(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString("latin1") : transcode(bytes, "utf8", "ucs2").toString("ucs2");
}

/**
 * @param body - valid UTF-8, with a limited depth
 * @param marks, markCount - the positions of its brackets, commas and colons
 * @throws SyntaxError for text that is not JSON
 */
export function* parseInSteps(body: Buffer, marks: Int32Array, markCount: number, size = RUN): Work<unknown> {
  // There are closing brackets without an opening one.
  if (markCount > marks.length) throw new SyntaxError();
  const partners = yield* pairBrackets(body, marks, markCount);
  const parser = new StepParser(body, marks, partners, size);
  return yield* parser.parse({from: 0, to: body.length, firstMark: 0, endMark: markCount});
}

/** @returns for each opening bracket among the marks: the index of the mark that closes it */
function* pairBrackets(body: Buffer, marks: Int32Array, markCount: number): Work<Int32Array> {
  const partners = new Int32Array(markCount);
  const open: number[] = [];
  for (let mark = 0; mark < markCount; mark++) {
    if (mark % STEP === 0) yield;
    const byte = body[marks[mark] as number];
    if (byte === OPEN_BRACKET || byte === OPEN_BRACE) open.push(mark);
    else if (byte !== COMMA && byte !== COLON) {
      const opening = open.pop();
      if (opening === undefined) throw new SyntaxError();
      partners[opening] = mark;
    }
  }
  if (open.length > 0) throw new SyntaxError();
  return partners;
}

class StepParser {
  constructor(
    private readonly body: Buffer,
    private readonly marks: Int32Array,
    private readonly partners: Int32Array,
    private readonly size: RunSize,
  ) {}

  *parse(range: Range): Work<unknown> {
    const {body, marks, partners} = this;
    const {firstMark, endMark} = range;
    if (!this.isLong(range.to - range.from, endMark - firstMark))
      return JSON.parse(this.text(range.from, range.to));
    const [from, to] = yield* this.trim(range.from, range.to);
    if (firstMark === endMark) {
      if (body[from] === QUOTE && to - from > this.size.bytes) return yield* this.parseString(from, to);
      return JSON.parse(this.text(from, to));
    }
    const last = endMark - 1;
    const isWhole = marks[firstMark] === from && marks[last] === to - 1 && partners[firstMark] === last;
    const isArray = body[from] === OPEN_BRACKET;
    // Only an opening bracket has a partner.
    if (!isWhole || body[to - 1] !== (isArray ? CLOSE_BRACKET : CLOSE_BRACE)) throw new SyntaxError();
    return yield* this.parseElements(
      {from: from + 1, to: to - 1, firstMark: firstMark + 1, endMark: last},
      isArray,
    );
  }

  /** @param range - between the brackets of an array or object */
  private *parseElements(range: Range, isArray: boolean): Work<unknown> {
    const {body, marks, partners} = this;
    const parsed: unknown[] | Record<string, unknown> = isArray ? [] : {};
    /** Where the elements that are not parsed yet begin, and where the current one begins. */
    let [run, runMark] = [range.from, range.firstMark];
    let [element, elementMark] = [run, runMark];
    for (let mark = range.firstMark; mark <= range.endMark; mark++) {
      const at = marks[mark] as number;
      const isLast = mark === range.endMark;
      if (!isLast && body[at] !== COMMA) {
        // Brackets have a partner, colons have none.
        if (body[at] !== COLON) mark = partners[mark] as number;
        continue;
      }
      let isParsed = true;
      if (this.isLong(at - element, mark - elementMark)) {
        if (element > run) this.parseRun(parsed, run, element - 1);
        yield;
        const long = {from: element, to: at, firstMark: elementMark, endMark: mark};
        yield* this.parseLong(parsed, long, isLast && element === range.from);
      } else if (isLast || this.isLong(at - run, mark - runMark))
        this.parseRun(parsed, run, at, isLast && run === range.from);
      else isParsed = false;
      [element, elementMark] = [at + 1, mark + 1];
      if (!isParsed) continue;
      [run, runMark] = [element, elementMark];
      yield;
    }
    return parsed;
  }

  private isLong(byteCount: number, markCount: number): boolean {
    return byteCount > this.size.bytes || markCount > this.size.marks;
  }

  /** Parses an element that is longer than a run, and its key. @param isOnly - it may be nothing but spaces */
  private *parseLong(
    parsed: unknown[] | Record<string, unknown>,
    {from, to, firstMark, endMark}: Range,
    isOnly: boolean,
  ): Work {
    if (isOnly) {
      const [start, end] = yield* this.trim(from, to);
      if (start === end) return;
    }
    if (Array.isArray(parsed)) {
      parsed.push(yield* this.parse({from, to, firstMark, endMark}));
      return;
    }
    const colon = this.marks[firstMark] as number;
    if (firstMark === endMark || this.body[colon] !== COLON) throw new SyntaxError();
    const [keyStart, keyEnd] = yield* this.trim(from, colon);
    const key: unknown = JSON.parse(this.text(keyStart, keyEnd));
    if (typeof key !== "string") throw new SyntaxError();
    setField(parsed, key, yield* this.parse({from: colon + 1, to, firstMark: firstMark + 1, endMark}));
  }

  /** @param isAll - of an array or object, which may be empty */
  private parseRun(
    parsed: unknown[] | Record<string, unknown>,
    from: number,
    to: number,
    isAll = false,
  ): void {
    const text = this.text(from, to);
    let count = 0;
    if (Array.isArray(parsed)) {
      const elements = JSON.parse(`[${text}]`) as unknown[];
      count = elements.length;
      for (const element of elements) parsed.push(element);
    } else {
      const fields = JSON.parse(`{${text}}`) as Record<string, unknown>;
      for (const key of Object.keys(fields)) {
        count++;
        setField(parsed, key, fields[key]);
      }
    }
    // There is a comma before or behind the run.
    if (count === 0 && !isAll) throw new SyntaxError();
  }

  /** @param from, to - a string with its quotes */
  private *parseString(from: number, to: number): Work<string> {
    const end = to - 1;
    if (this.body[end] !== QUOTE) throw new SyntaxError();
    const partBytes = this.size.bytes * STRING_RUNS;
    let string = "";
    for (let at = from + 1; at < end; ) {
      const next = end - at > partBytes ? this.findCut(at, at + partBytes) : end;
      // V8 joins the parts when somebody reads the string: 5 MB may take 5 ms.
      string += JSON.parse(`"${this.text(at, next)}"`) as string;
      at = next;
      yield;
    }
    return string;
  }

  /**
   * @param start - in a string, at the start of a character or escape
   * @returns a position after `start`, up to `at`, that is neither in an escape nor in a character
   */
  private findCut(start: number, at: number): number {
    const {body} = this;
    let cut = at;
    for (let last = at - 1; last > at - 2 - ESCAPE_BYTES; last--) {
      if (body[last] !== BACKSLASH) continue;
      // In a run of backslashes, two are one escape, from its start on. The last of an odd number begins another escape.
      let runStart = last;
      while (runStart > start && body[runStart - 1] === BACKSLASH) runStart--;
      if ((last - runStart) % 2 === 0) cut = last;
      break;
    }
    // Continuation bytes of a character.
    while (((body[cut] as number) & 0xc0) === 0x80) cut--;
    return cut;
  }

  /** @returns the range without the spaces at both ends; twice `to` if there is nothing else */
  private *trim(from: number, to: number): Work<[number, number]> {
    const {body} = this;
    let [start, end] = [from, to];
    for (; start < to && isSpace(body[start]); start++) if ((start - from) % STEP === STEP - 1) yield;
    for (; end > start && isSpace(body[end - 1]); end--) if ((to - end) % STEP === STEP - 1) yield;
    return [start, end];
  }

  private text(from: number, to: number): string {
    return decodeText(this.body.subarray(from, to));
  }
}

/** As in JSON.parse: the last field of a name counts, and __proto__ is a field like any other. */
function setField(fields: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(fields, key, {value, writable: true, enumerable: true, configurable: true});
  else fields[key] = value;
}

/** With a Set of the four, Node 24.9 took up to 68 ms for a body of spaces. */
function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB;
}
