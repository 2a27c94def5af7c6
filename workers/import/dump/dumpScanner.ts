/**
 * Reads the lines of `geth snapshot dump` as the bytes come in, value after value, so that no line is ever held whole: a contract with
 * millions of slots is one line of hundreds of MB.
 *
 *   {"root":"0x.."}
 *   {"balance":"1","nonce":2,"root":"0x..","codeHash":"0x..","code":"0x..","storage":{"0x..":"a0..", ...},"key":"0x.."}
 */
import {SourceError} from "../sourceStep.ts";

/** What the scanner finds in a line, in the order of its bytes. Values are views of them. */
export interface DumpHandler {
  /** @param isText - it has quotes, which are left out; else it is digits */
  field(name: string, value: Buffer, isText: boolean): void;
  startStorage(): void;
  slot(key: Buffer, value: Buffer): void;
  end(): void;
}

/** A code of 2 MiB. */
const MAX_VALUE_BYTES = 4 << 20;
const MORE = -1;
const NO_BYTES = Buffer.alloc(0);

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

type State = "line" | "firstName" | "name" | "colon" | "value" | "comma" | "lineEnd";

const EXPECTED: Readonly<Record<State, string>> = {
  line: 'an object: "{"',
  firstName: 'a field name, or "}"',
  name: "a field name",
  colon: '":"',
  value: "text or a whole number",
  comma: '"," or "}"',
  lineEnd: "the end of the line",
};

export class DumpScanner {
  /** The current line, from 1. */
  line = 1;
  private state: State = "line";
  private inStorage = false;
  private name: Buffer = NO_BYTES;
  /** The beginning of a name or value whose end has not come. */
  private left: Buffer = NO_BYTES;

  constructor(private readonly handler: DumpHandler) {}

  /** @throws SourceError */
  push(chunk: Buffer): void {
    const bytes = this.left.length === 0 ? chunk : Buffer.concat([this.left, chunk]);
    let at = 0;
    for (let next = 0; next !== MORE && next < bytes.length; ) {
      at = next;
      next = this.step(bytes, at);
      if (next !== MORE) at = next;
    }
    if (bytes.length - at > MAX_VALUE_BYTES)
      throw new SourceError(
        `expected names and values of at most ${MAX_VALUE_BYTES} bytes, got a longer one`,
      );
    this.left = bytes.subarray(at);
  }

  /** The input has ended. The last line needs no newline. @throws SourceError if it ended within a line */
  finish(): void {
    if (this.left.length > 0 || (this.state !== "line" && this.state !== "lineEnd"))
      throw new SourceError("the input ends within it (truncated?)");
    if (this.state === "lineEnd") this.endLine();
  }

  /** @returns the offset after what was read; MORE if its end has not come */
  private step(bytes: Buffer, at: number): number {
    const byte = bytes[at];
    if (byte === 0x20 || byte === 0x09 || byte === 0x0d) return at + 1;
    if (byte === NEWLINE && (this.state === "line" || this.state === "lineEnd")) {
      if (this.state === "lineEnd") this.endLine();
      this.line++;
      return at + 1;
    }
    switch (this.state) {
      case "line":
        if (byte !== OPEN_BRACE) break;
        this.state = "firstName";
        return at + 1;
      case "firstName":
      case "name": {
        if (byte === CLOSE_BRACE && this.state === "firstName") return this.closeObject(at);
        if (byte !== QUOTE) break;
        const end = bytes.indexOf(QUOTE, at + 1);
        if (end === MORE) return MORE;
        this.name = bytes.subarray(at + 1, end);
        this.state = "colon";
        return end + 1;
      }
      case "colon":
        if (byte !== COLON) break;
        this.state = "value";
        return at + 1;
      case "value":
        return this.readValue(bytes, at);
      case "comma":
        if (byte === CLOSE_BRACE) return this.closeObject(at);
        if (byte !== COMMA) break;
        this.state = "name";
        return at + 1;
      default:
    }
    throw this.unexpected(byte);
  }

  private readValue(bytes: Buffer, at: number): number {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = bytes.indexOf(QUOTE, at + 1);
      if (end === MORE) return MORE;
      this.state = "comma";
      const value = bytes.subarray(at + 1, end);
      if (this.inStorage) this.handler.slot(this.name, value);
      else this.handler.field(this.name.toString("latin1"), value, true);
      return end + 1;
    }
    if (this.inStorage) throw this.unexpected(byte);
    if (byte === OPEN_BRACE && this.name.toString("latin1") === "storage") {
      this.handler.startStorage();
      this.inStorage = true;
      this.state = "firstName";
      return at + 1;
    }
    let end = at;
    while (end < bytes.length && isDigit(bytes[end])) end++;
    if (end === bytes.length) return MORE;
    if (end === at) throw this.unexpected(byte);
    this.state = "comma";
    this.handler.field(this.name.toString("latin1"), bytes.subarray(at, end), false);
    return end;
  }

  private closeObject(at: number): number {
    this.state = this.inStorage ? "comma" : "lineEnd";
    this.inStorage = false;
    return at + 1;
  }

  private endLine(): void {
    this.handler.end();
    this.state = "line";
  }

  private unexpected(byte: number | undefined): SourceError {
    const got =
      byte === NEWLINE ? "the end of the line (truncated?)" : JSON.stringify(String.fromCharCode(byte ?? 0));
    return new SourceError(`expected ${EXPECTED[this.state]}, got ${got}`);
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}
