/** Writes rows as lines of text, and reads lines. */
import {createReadStream} from "node:fs";
import {damaged, nameFile} from "../pulledError.ts";
import type {AnyRow} from "../row/tables.ts";
import type {RowEncoder} from "./partFormat.ts";

const CHUNK_CHARS = 1 << 16;
const CHUNK_BYTES = 1 << 18;
/** A proof with its request has half a MiB, its hex twice that. */
const MAX_LINE_BYTES = 8 << 20;
const NEWLINE = 0x0a;

/** Buffers lines of ASCII, one for each row, and writes them in chunks. */
export class LineEncoder implements RowEncoder {
  bytes: number;

  /** @param encodeRow - returns the line with its end. @param waiting - text before all rows */
  constructor(
    private readonly write: (bytes: Uint8Array) => void,
    private readonly encodeRow: (row: AnyRow) => string,
    private waiting = "",
  ) {
    this.bytes = waiting.length;
  }

  add(row: AnyRow): void {
    const line = this.encodeRow(row);
    this.bytes += line.length;
    this.waiting += line;
    if (this.waiting.length >= CHUNK_CHARS) this.end();
  }

  end(): void {
    if (this.waiting !== "") this.write(Buffer.from(this.waiting, "latin1"));
    this.waiting = "";
  }
}

/** Reads lines, some at a time. @throws PulledError DAMAGED for a line that is too long or does not end */
export async function* readLines(path: string): AsyncGenerator<readonly string[], void, void> {
  let rest: Buffer = Buffer.alloc(0);
  let lineNumber = 1;
  try {
    for await (const chunk of createReadStream(path, {highWaterMark: CHUNK_BYTES})) {
      const bytes = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
      const end = bytes.lastIndexOf(NEWLINE) + 1;
      rest = bytes.subarray(end);
      const lines = bytes.toString("utf8", 0, end).split("\n");
      lines.pop();
      lineNumber += lines.length;
      if (rest.length > MAX_LINE_BYTES)
        throw damaged(`${path}, line ${lineNumber}`, `expected at most ${MAX_LINE_BYTES} bytes, got more`);
      if (lines.length > 0) yield lines;
    }
  } catch (error) {
    throw nameFile(path, "read", error);
  }
  if (rest.length > 0) throw damaged(`${path}, line ${lineNumber}`, "the file ends in the middle of it");
}
