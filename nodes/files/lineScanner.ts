/**
 * Cuts lines of JSON into values as the bytes come in. One field of a line is an object that is cut too, so a line with
 * millions of accounts or slots is never in memory as a whole.
 *
 *   {"number":"0x1", ... , "accounts":{"0xaddress": {...}, ...}, ...}\n          block differences
 *   {"root":"0x.."}\n                                                            geth snapshot dump
 *   {"balance":"1", ... , "storage":{"0xslot":"a0..", ...}, "key":"0x.."}\n
 *
 *   {\n "alloc": {"0xaddress": {...}, ...}, ... }\n                             a genesis file, on any number of lines
 *
 * Only the punctuation between values is parsed here. The handler parses the values.
 */
import {StoreError} from "../../storage/errors.ts";
import {SourceError} from "../blocks/sourceStep.ts";
import {NodeFailure} from "../rpc/node.ts";

/** Values are JSON text, as views. Names have no quotes, and keep their escapes. */
export interface LineHandler {
  /** A field other than the one that is cut, which starts with `startEntries`. */
  field(name: string, value: Buffer): void;
  startEntries(): void;
  entry(name: Buffer, value: Buffer): void;
  end(line: number): void;
}

/** The largest is the `config` of block 0, or code of 2 MiB. */
const MAX_FIELD_BYTES = 4 << 20;
const MAX_NAME_BYTES = 256;
const MAX_DEPTH = 64;
const NO_BYTES = Buffer.alloc(0);

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

type State = "line" | "firstName" | "name" | "colon" | "value" | "comma" | "lineEnd";

const EXPECTED: Readonly<Record<State, string>> = {
  line: 'an object: "{"',
  firstName: 'a field name, or "}"',
  name: "a field name",
  colon: '":"',
  value: "a value",
  comma: '"," or "}"',
  lineEnd: "the end of the line",
};

export class LineScanner {
  /** From 1. */
  line = 1;
  private state: State = "line";
  /** Inside the field that is cut. */
  private inEntries = false;
  private name: Buffer = NO_BYTES;
  /** Bytes of the current name or value from earlier chunks. */
  private parts: Buffer[] = [];
  private partBytes = 0;
  /** Inside a name or value. */
  private isCutting = false;
  private depth = 0;
  private inString = false;
  private escaped = false;

  /**
   * @param entries - matches the name of the field that is cut. @param maxEntryBytes - of a value in it
   * @param spansLines - there is one object, and newlines count as spaces
   */
  constructor(
    private readonly entries: RegExp,
    private readonly maxEntryBytes: number,
    private readonly handler: LineHandler,
    private readonly spansLines = false,
  ) {}

  /** @throws SourceError about the current line, as the handler does too */
  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) at = this.isCutting ? this.cut(chunk, at) : this.step(chunk, at);
  }

  /** After the last chunk. The last line needs no newline. @throws SourceError if the input ended within a line */
  finish(): void {
    if (this.state === "lineEnd") this.endLine();
    else if (this.state !== "line") throw new SourceError("the input ends within it (truncated?)");
  }

  /** Reads punctuation, or starts a name or value. @returns the offset after it */
  private step(chunk: Buffer, at: number): number {
    const byte = chunk[at] as number;
    if (byte === 0x20 || byte === 0x09 || byte === 0x0d) return at + 1;
    if (byte === NEWLINE && (this.spansLines || this.state === "line" || this.state === "lineEnd")) {
      if (this.state === "lineEnd" && !this.spansLines) this.endLine();
      this.line++;
      return at + 1;
    }
    switch (this.state) {
      case "line":
        if (byte !== OPEN_BRACE) break;
        this.state = "firstName";
        return at + 1;
      case "firstName":
      case "name":
        if (byte === CLOSE_BRACE && this.state === "firstName") return this.closeObject(at);
        if (byte !== QUOTE) break;
        return this.cut(chunk, at);
      case "colon":
        if (byte !== COLON) break;
        this.state = "value";
        return at + 1;
      case "value":
        if (byte === NEWLINE) break;
        if (this.inEntries || !this.entries.test(this.name.toString())) return this.cut(chunk, at);
        if (byte !== OPEN_BRACE) throw new SourceError(`${this.name} is not an object`);
        this.handler.startEntries();
        this.inEntries = true;
        this.state = "firstName";
        return at + 1;
      case "comma":
        if (byte === CLOSE_BRACE) return this.closeObject(at);
        if (byte !== COMMA) break;
        this.state = "name";
        return at + 1;
      default:
    }
    const got =
      byte === NEWLINE ? "the end of the line (truncated?)" : JSON.stringify(String.fromCharCode(byte));
    throw new SourceError(`expected ${EXPECTED[this.state]}, got ${got}`);
  }

  private closeObject(at: number): number {
    this.state = this.inEntries ? "comma" : "lineEnd";
    this.inEntries = false;
    return at + 1;
  }

  private endLine(): void {
    this.handler.end(this.line);
    this.state = "line";
  }

  /** Reads a name or value up to its last byte. @returns the offset after the bytes taken */
  private cut(chunk: Buffer, start: number): number {
    if (!this.isCutting && chunk[start] === QUOTE) {
      // The common case: text without escapes.
      const end = chunk.indexOf(QUOTE, start + 1);
      if (end !== -1 && chunk[end - 1] !== BACKSLASH) return this.complete(chunk, start, end + 1);
    }
    this.isCutting = true;
    let at = start;
    for (; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (this.inString) {
        if (this.escaped) this.escaped = false;
        else if (byte === BACKSLASH) this.escaped = true;
        else if (byte === QUOTE) {
          this.inString = false;
          if (this.depth === 0) return this.complete(chunk, start, at + 1);
        } else if (byte === NEWLINE) throw new SourceError("it ends within a string (truncated?)");
      } else if (byte === QUOTE) this.inString = true;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (++this.depth > MAX_DEPTH) throw new SourceError(`nesting deeper than ${MAX_DEPTH}`);
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        // A value without quotes or brackets ends where its object ends.
        if (this.depth === 0) return this.complete(chunk, start, at);
        if (--this.depth === 0) return this.complete(chunk, start, at + 1);
      } else if (byte === NEWLINE && this.spansLines) this.line++;
      else if (byte === NEWLINE) throw new SourceError("it ends within a value (truncated?)");
      else if (byte === COMMA && this.depth === 0) return this.complete(chunk, start, at);
    }
    this.keep(chunk.subarray(start));
    return at;
  }

  private keep(part: Buffer): void {
    const isName = this.state !== "value";
    const limit = isName ? MAX_NAME_BYTES : this.inEntries ? this.maxEntryBytes : MAX_FIELD_BYTES;
    this.partBytes += part.length;
    if (this.partBytes > limit)
      throw new SourceError(`${isName ? "a name" : this.name.toString()} is longer than ${limit} bytes`);
    this.parts.push(part);
  }

  private complete(chunk: Buffer, start: number, end: number): number {
    this.keep(chunk.subarray(start, end));
    const bytes = this.parts.length === 1 ? (this.parts[0] as Buffer) : Buffer.concat(this.parts);
    this.parts = [];
    this.partBytes = 0;
    this.isCutting = false;
    if (this.state !== "value") {
      this.name = bytes.subarray(1, -1);
      this.state = "colon";
    } else {
      this.state = "comma";
      if (this.inEntries) this.handler.entry(this.name, bytes);
      else this.handler.field(this.name.toString(), bytes);
    }
    return end;
  }
}

const ERRORS = [SourceError, NodeFailure, StoreError] as const;

/** @param reader - `line` is read after a failure. @throws SourceError with the number of the line */
export function atLine<Result>(reader: {readonly line: number}, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!ERRORS.some(kind => error instanceof kind)) throw error;
    throw new SourceError(`line ${reader.line}: ${(error as Error).message}`, {cause: error});
  }
}

/** @param what - names the value in messages. @throws SourceError */
export function parseJson(text: Buffer | string, what: string): unknown {
  try {
    return JSON.parse(text.toString());
  } catch (error) {
    throw new SourceError(`${what} is not JSON: ${(error as Error).message}`, {cause: error});
  }
}
