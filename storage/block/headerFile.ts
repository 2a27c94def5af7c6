/** Headers in a file: RLP of headers or blocks (`geth export`), back to back; that in hex; or a JSON-RPC response. */
import {RlpError, RlpReader} from "../rlp/rlpReader.ts";

const FIRST_LIST = 0xc0;

/** @returns the RLP of each header, at least one: views. Fields are not read. @throws RlpError */
export function splitHeaders(input: Buffer): readonly Uint8Array[] {
  const list = new RlpReader(readRlp(input));
  const headers: Uint8Array[] = [];
  while (!list.isDone) {
    let start = list.at;
    const items = list.readList();
    let end = list.at;
    // The first item of a block is its header, and that of a header is a hash.
    if (items.isList) {
      start = items.at;
      items.readList();
      end = items.at;
    }
    headers.push(list.bytes.subarray(start, end));
  }
  return headers;
}

function readRlp(input: Buffer): Uint8Array {
  if ((input[0] ?? 0) >= FIRST_LIST) return new Uint8Array(input);
  const text = input.toString().trim();
  const hex = text.startsWith("{") ? readResult(text) : text;
  if (typeof hex !== "string" || !/^0x([0-9a-f]{2})+$/i.test(hex))
    throw new RlpError("expected a header as RLP, its hex (0x..), or debug_getRawHeader's response");
  return new Uint8Array(Buffer.from(hex.slice(2), "hex"));
}

function readResult(text: string): unknown {
  try {
    return JSON.parse(text).result;
  } catch {
    return undefined;
  }
}
