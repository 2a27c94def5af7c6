/**
 * Cuts block differences (NDJSON) into their parts as the bytes come in, so that a line with millions of accounts is
 * never held as text.
 *
 *   {"number":"0x1", ... , "accounts":{"0xaddress": {...}, ...}, ...}\n
 *     top-level values and single accounts are cut out whole and parsed by JSON.parse; only the punctuation between
 *     them, two levels deep, is read here
 */
import {SourceError} from "./sourceStep.ts";

/** What the scanner reports of a line, in the order of its bytes. */
export interface LineHandler {
  /** A field other than `accounts`. */
  field(name: string, value: unknown): void;
  startAccounts(): void;
  account(address: string, value: unknown): void;
  end(line: number): void;
}

/** One account with a million slots has 140 MB; JSON.parse takes texts of up to 512 MB. */
const MAX_ACCOUNT_BYTES = 256 << 20;
/** `config` is the largest. */
const MAX_FIELD_BYTES = 4 << 20;
const MAX_NAME_BYTES = 256;
const MAX_DEPTH = 64;

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

const EXPECTED: Record<State, string> = {
  line: 'an object: "{"',
  firstName: 'a field name, or "}"',
  name: "a field name",
  colon: '":"',
  value: "a value",
  comma: '"," or "}"',
  lineEnd: "the end of the line",
};

export class DifferenceScanner {
  /** The current line, from 1. */
  line = 1;
  private state: State = "line";
  /** Inside `accounts`. */
  private inAccounts = false;
  private name = "";
  /** Bytes of the current name or value from earlier chunks. */
  private parts: Buffer[] = [];
  private partBytes = 0;
  /** Set while inside a name or value. */
  private cutting: "name" | "value" | undefined;
  private depth = 0;
  private inString = false;
  private escaped = false;

  constructor(private readonly handler: LineHandler) {}

  /** @throws SourceError naming the line */
  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) at = this.cutting === undefined ? this.step(chunk, at) : this.cut(chunk, at);
  }

  /** The input has ended. A last line needs no newline. @throws SourceError if it ended within a line */
  finish(): void {
    if (this.state === "lineEnd") this.endLine();
    else if (this.state !== "line") throw this.error("the input ends within it (truncated?)");
  }

  /** Punctuation, or the start of a name or value. @returns the offset after it */
  private step(chunk: Buffer, at: number): number {
    const byte = chunk[at] as number;
    if (byte === NEWLINE) {
      if (this.state === "lineEnd") this.endLine();
      else if (this.state !== "line")
        throw this.error(`expected ${EXPECTED[this.state]}, got the end of the line (truncated?)`);
      this.line++;
      return at + 1;
    }
    if (byte === 0x20 || byte === 0x09 || byte === 0x0d) return at + 1;
    switch (this.state) {
      case "line":
        if (byte !== OPEN_BRACE) break;
        this.state = "firstName";
        return at + 1;
      case "firstName":
      case "name":
        if (byte === CLOSE_BRACE && this.state === "firstName") return this.closeObject(at);
        if (byte !== QUOTE) break;
        this.cutting = "name";
        return this.cut(chunk, at);
      case "colon":
        if (byte !== COLON) break;
        this.state = "value";
        return at + 1;
      case "value":
        if (this.name === "accounts" && !this.inAccounts) {
          if (byte !== OPEN_BRACE) throw this.error("accounts is not an object");
          this.handler.startAccounts();
          this.inAccounts = true;
          this.state = "firstName";
          return at + 1;
        }
        this.cutting = "value";
        return this.cut(chunk, at);
      case "comma":
        if (byte === CLOSE_BRACE) return this.closeObject(at);
        if (byte !== COMMA) break;
        this.state = "name";
        return at + 1;
      default:
    }
    throw this.error(`expected ${EXPECTED[this.state]}, got ${JSON.stringify(String.fromCharCode(byte))}`);
  }

  private closeObject(at: number): number {
    this.state = this.inAccounts ? "comma" : "lineEnd";
    if (this.inAccounts) this.name = "";
    this.inAccounts = false;
    return at + 1;
  }

  private endLine(): void {
    this.handler.end(this.line);
    this.state = "line";
  }

  /** Reads a name or value up to its last byte. @returns the offset after the bytes that it took */
  private cut(chunk: Buffer, start: number): number {
    let at = start;
    for (; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (this.inString) {
        if (this.escaped) this.escaped = false;
        else if (byte === BACKSLASH) this.escaped = true;
        else if (byte === QUOTE) {
          this.inString = false;
          if (this.depth === 0) return this.complete(chunk, start, at + 1);
        } else if (byte === NEWLINE) throw this.error("it ends within a string (truncated?)");
      } else if (byte === QUOTE) this.inString = true;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (++this.depth > MAX_DEPTH) throw this.error(`nesting deeper than ${MAX_DEPTH}`);
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        // A value without quotes or brackets ends where its object ends.
        if (this.depth === 0) return this.complete(chunk, start, at);
        if (--this.depth === 0) return this.complete(chunk, start, at + 1);
      } else if (byte === NEWLINE) throw this.error("it ends within a value (truncated?)");
      else if (byte === COMMA && this.depth === 0) return this.complete(chunk, start, at);
    }
    this.keep(chunk.subarray(start));
    return at;
  }

  private keep(part: Buffer): void {
    const limit =
      this.cutting === "name" ? MAX_NAME_BYTES : this.inAccounts ? MAX_ACCOUNT_BYTES : MAX_FIELD_BYTES;
    this.partBytes += part.length;
    if (this.partBytes > limit)
      throw this.error(`${this.cutting === "name" ? "a name" : this.where()} is longer than ${limit} bytes`);
    this.parts.push(part);
  }

  private complete(chunk: Buffer, start: number, end: number): number {
    this.keep(chunk.subarray(start, end));
    const value = this.parse(this.parts.length === 1 ? (this.parts[0] as Buffer) : Buffer.concat(this.parts));
    const kind = this.cutting;
    this.parts = [];
    this.partBytes = 0;
    this.cutting = undefined;
    if (kind === "name") {
      this.name = value as string;
      this.state = "colon";
    } else {
      this.state = "comma";
      if (this.inAccounts) this.handler.account(this.name, value);
      else this.handler.field(this.name, value);
    }
    return end;
  }

  private parse(bytes: Buffer): unknown {
    try {
      return JSON.parse(bytes.toString());
    } catch (error) {
      throw this.error(
        `${this.cutting === "name" ? "a name" : this.where()} is not JSON: ${(error as Error).message}`,
      );
    }
  }

  private where(): string {
    return this.inAccounts ? `account ${this.name}` : this.name;
  }

  private error(reason: string): SourceError {
    return new SourceError(`line ${this.line}: ${reason}`);
  }
}
