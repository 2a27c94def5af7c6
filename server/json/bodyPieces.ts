/**
 * JSON.parse of a long body, a piece at a time:
 *
 *   [ {"id":1,..}, {"id":2,..}, {"id":3,"params":[{"k1":.., "k2":.., .. "k999":..}, ..]}, {"id":4,..}, ..
 *     |<------- piece ------->|          |          |<------- piece ------->|  |             |
 *                                        +-- an array or object that is longer than a piece is put together from its pieces
 *
 * A piece is a run of neighbouring elements of one array or object. Brackets, commas and colons tell where it ends (bodyScan.ts). What
 * stands between them only JSON.parse reads, so the result is that of JSON.parse for the whole, and so is what is refused.
 */
import {isAscii, transcode} from "node:buffer";
import type {Work} from "../fairness/work.ts";

interface PieceSize {
  /** At least 8. */
  readonly bytes: number;
  readonly marks: number;
}

/** A distinct key or a new shape of object takes JSON.parse up to 1.5 us (envelope.ts), and each has a mark. */
const PIECE: PieceSize = {bytes: 16 * 1024, marks: 512};
/**
 * A part of a long string is so many times as long as another piece. V8 does not move a string of more than 128 KB when it collects
 * garbage, which took up to 13 ms for one body's.
 */
const STRING_PIECES = 10;
/** Spaces that are skipped, or marks that are passed, in one part. */
const PART = 64 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
/** By byte. */
const IS_SPACE: Uint8Array = createSpaces();
/** An escape has at most so many bytes after its backslash. */
const ESCAPE_BYTES = 5;

function createSpaces(): Uint8Array {
  const spaces = new Uint8Array(256);
  for (const space of " \t\n\r") spaces[space.charCodeAt(0)] = 1;
  return spaces;
}

/** An array or object that is open. */
interface Frame {
  readonly isArray: boolean;
  /** Position of its bracket. */
  readonly open: number;
  /** undefined: it is a part of its parent's piece. */
  value: unknown[] | Record<string, unknown> | undefined;
  /** Where the elements begin that are not parsed, and the mark before. */
  from: number;
  fromMark: number;
  /** Where the current element begins. */
  element: number;
  /** Of the current element, if it is behind the start: the first colon. */
  colon: number;
  /** Of the element that is put together from pieces. */
  key: string;
  /** Where that element ended. 0: the current element is not such a one. */
  childEnd: number;
}

/** What text is for JSON.parse in UTF-8. It drops no byte order mark, which JSON.parse refuses. @param bytes - that isUtf8 takes */
export function decodeText(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString("latin1") : transcode(bytes, "utf8", "ucs2").toString("ucs2");
}

/**
 * @param body - valid UTF-8
 * @param marks, markCount - the positions of its brackets, commas and colons
 * @throws SyntaxError for what is not JSON
 */
export function* parsePieces(
  body: Buffer,
  marks: Int32Array,
  markCount: number,
  size = PIECE,
): Work<unknown> {
  // Brackets that close nothing.
  if (markCount > marks.length) throw new SyntaxError();
  return yield* new Pieces(body, size).parse(marks.subarray(0, markCount));
}

class Pieces {
  /** The first stands for the body, as if it were the only element of an array. */
  private readonly frames: Frame[] = [createFrame(true, -1, 0)];

  constructor(
    private readonly body: Buffer,
    private readonly size: PieceSize,
  ) {}

  *parse(marks: Int32Array): Work<unknown> {
    const {body, frames} = this;
    const [root] = frames as [Frame];
    for (let mark = 0; mark < marks.length; mark++) {
      if (mark % PART === 0) yield;
      const at = marks[mark] as number;
      const byte = body[at];
      const frame = frames[frames.length - 1] as Frame;
      if (byte === COLON) {
        if (frame.colon < frame.element) frame.colon = at;
      } else if (byte === OPEN_BRACKET || byte === OPEN_BRACE)
        frames.push(createFrame(byte === OPEN_BRACKET, at, mark));
      else if (frame === root) throw new SyntaxError();
      else if (byte === COMMA) {
        if (this.isDue(frame, at, mark)) yield* this.take(frame, at, mark, false);
        frame.element = at + 1;
      } else {
        if (frame.value !== undefined || this.isDue(frame, at, mark)) yield* this.take(frame, at, mark, true);
        frames.pop();
        if (frame.value === undefined) continue;
        if (frame.isArray !== (byte === CLOSE_BRACKET)) throw new SyntaxError();
        const parent = frames[frames.length - 1] as Frame;
        put(parent, parent.key, frame.value);
        parent.childEnd = at + 1;
      }
    }
    yield* this.take(root, body.length, marks.length, true);
    const values = root.value as unknown[];
    if (frames.length > 1 || values.length !== 1) throw new SyntaxError();
    return values[0];
  }

  /** Whether the frame is parsed up to here: there is enough for a piece, or the element is not a part of one. */
  private isDue({childEnd, from, fromMark}: Frame, at: number, mark: number): boolean {
    return childEnd > 0 || at - from > this.size.bytes || mark - fromMark > this.size.marks;
  }

  /** Parses what of the innermost frame is not parsed, up to a comma or its end. */
  private *take(frame: Frame, at: number, mark: number, isEnd: boolean): Work {
    yield* this.split();
    if (frame.childEnd > 0) yield* this.requireBlank(frame.childEnd, at);
    else if (at - frame.element > this.size.bytes) {
      if (frame.element > frame.from) this.parseRun(frame, frame.element - 1);
      yield;
      const isFirst = frame.element === frame.open + 1;
      yield* this.parseLong(frame, at, isEnd && isFirst);
    } else this.parseRun(frame, at);
    frame.childEnd = 0;
    frame.from = at + 1;
    frame.fromMark = mark;
    yield;
  }

  /** From now on, all open arrays and objects are put together from their pieces. */
  private *split(): Work {
    let parent: Frame | undefined;
    for (const frame of this.frames) {
      if (frame.value === undefined) {
        if (parent !== undefined) yield* this.openChild(parent, frame.open);
        frame.value = frame.isArray ? [] : {};
      }
      parent = frame;
    }
  }

  /** Parses what is before the parent's current element, and its key. @param open - the bracket of the element */
  private *openChild(parent: Frame, open: number): Work {
    if (parent.element > parent.from) this.parseRun(parent, parent.element - 1);
    const start = parent.isArray ? parent.element : yield* this.parseKey(parent);
    yield* this.requireBlank(start, open);
  }

  /** Sets the key of the current element. @returns where its value begins */
  private *parseKey(frame: Frame): Work<number> {
    if (frame.colon < frame.element) throw new SyntaxError();
    const [from, to] = yield* this.trim(frame.element, frame.colon);
    const key: unknown = JSON.parse(this.text(from, to));
    if (typeof key !== "string") throw new SyntaxError();
    frame.key = key;
    return frame.colon + 1;
  }

  private parseRun(frame: Frame, to: number): void {
    const text = this.text(frame.from, to);
    if (frame.isArray) {
      const elements = JSON.parse(`[${text}]`) as unknown[];
      // There is a comma before or behind it.
      if (elements.length === 0) throw new SyntaxError();
      for (const element of elements) put(frame, "", element);
    } else {
      const fields = JSON.parse(`{${text}}`) as Record<string, unknown>;
      const keys = Object.keys(fields);
      if (keys.length === 0) throw new SyntaxError();
      for (const key of keys) put(frame, key, fields[key]);
    }
  }

  /** Parses the current element: a string, or text with many spaces. @param mayBeNone - nothing but spaces may stand there */
  private *parseLong(frame: Frame, end: number, mayBeNone: boolean): Work {
    if (mayBeNone) {
      const [from, to] = yield* this.trim(frame.element, end);
      if (from === to) return;
    }
    const start = frame.isArray ? frame.element : yield* this.parseKey(frame);
    const [from, to] = yield* this.trim(start, end);
    const isString = this.body[from] === QUOTE && to - from > this.size.bytes;
    put(frame, frame.key, isString ? yield* this.parseString(from, to) : JSON.parse(this.text(from, to)));
  }

  /** @param from, to - a string with its quotes */
  private *parseString(from: number, to: number): Work<string> {
    const end = to - 1;
    if (this.body[end] !== QUOTE) throw new SyntaxError();
    const partBytes = this.size.bytes * STRING_PIECES;
    let whole = "";
    for (let at = from + 1; at < end; ) {
      const next = end - at > partBytes ? this.findCut(at, at + partBytes) : end;
      // Put together when somebody reads it: 5 MB may take 5 ms.
      whole += JSON.parse(`"${this.text(at, next)}"`) as string;
      at = next;
      yield;
    }
    return whole;
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
      // Two neighbouring backslashes are one escape, counted from the start of their run. Without a neighbour, another one begins here.
      let runStart = last;
      while (runStart > start && body[runStart - 1] === BACKSLASH) runStart--;
      if ((last - runStart) % 2 === 0) cut = last;
      break;
    }
    // The bytes of a character behind its first one.
    while (((body[cut] as number) & 0xc0) === 0x80) cut--;
    return cut;
  }

  private *requireBlank(from: number, to: number): Work {
    const [start, end] = yield* this.trim(from, to);
    if (start !== end) throw new SyntaxError();
  }

  /** @returns where the text begins and ends without the spaces around it; twice `to` if there is nothing else */
  private *trim(from: number, to: number): Work<[number, number]> {
    const {body} = this;
    let [start, end] = [from, to];
    for (let limit = from; start === limit && limit < to; yield) {
      limit = Math.min(to, limit + PART);
      while (start < limit && IS_SPACE[body[start] as number] === 1) start++;
    }
    for (let limit = to; end === limit && limit > start; yield) {
      limit = Math.max(start, limit - PART);
      while (end > limit && IS_SPACE[body[end - 1] as number] === 1) end--;
    }
    return [start, end];
  }

  private text(from: number, to: number): string {
    return decodeText(this.body.subarray(from, to));
  }
}

function createFrame(isArray: boolean, open: number, mark: number): Frame {
  // Hot: a body may have one for every two bytes. A spread would take 2 us.
  return {
    isArray,
    open,
    value: undefined,
    from: open + 1,
    fromMark: mark,
    element: open + 1,
    colon: -1,
    key: "",
    childEnd: 0,
  };
}

/** As JSON.parse does it: the last field of a name counts, and __proto__ is a field like any other. */
function put({value}: Frame, key: string, element: unknown): void {
  if (Array.isArray(value)) value.push(element);
  else if (key === "__proto__")
    Object.defineProperty(value, key, {value: element, writable: true, enumerable: true, configurable: true});
  else (value as Record<string, unknown>)[key] = element;
}
