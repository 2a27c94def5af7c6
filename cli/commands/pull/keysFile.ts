/** A file of keys of any length, one `0xaddress [0xslot ...]` per line: validated first, then streamed. */
import {createHash} from "node:crypto";
import {createReadStream} from "node:fs";
import type {ProofRequest} from "../../../client/proof/request.ts";
import {WorkError} from "../../../server/lifecycle/workError.ts";
import {openFile} from "../../../storage/regularFile.ts";
import {parseKeyLine} from "../../flags/keyLines.ts";

const MAX_LINE_BYTES = 1 << 20;
const NEWLINE = 0x0a;

/** @throws WorkError that names the line, or if the file cannot be read or is empty */
export async function checkKeys(path: string) {
  const hash = createHash("sha256");
  let keys = 0;
  for await (const {storageKeys} of readKeys(path, chunk => hash.update(chunk)))
    keys += 1 + storageKeys.length;
  if (keys === 0) throw new WorkError(`--keys ${path}: it has no account`);
  return {path, sha256: `0x${hash.digest("hex")}`, keys};
}

export async function* readKeys(
  path: string,
  onChunk: (chunk: Uint8Array) => void = () => {},
): AsyncGenerator<ProofRequest, void, void> {
  let lineNumber = 0;
  const parse = (line: string): ProofRequest | undefined => {
    const account = parseKeyLine(line, ++lineNumber);
    return account && {address: account.address, storageKeys: account.slots};
  };
  try {
    let rest: Buffer = Buffer.alloc(0);
    for await (const chunk of createReadStream("", {fd: openFile(path)})) {
      onChunk(chunk as Buffer);
      const bytes = Buffer.concat([rest, chunk as Buffer]);
      const end = bytes.lastIndexOf(NEWLINE) + 1;
      rest = bytes.subarray(end);
      if (rest.length > MAX_LINE_BYTES)
        throw new Error(`line ${lineNumber + 1}: expected at most ${MAX_LINE_BYTES} bytes, got more`);
      for (const line of bytes.toString("latin1", 0, end).split("\n").slice(0, -1)) {
        const entry = parse(line);
        if (entry !== undefined) yield entry;
      }
    }
    const last = rest.length === 0 ? undefined : parse(rest.toString("latin1"));
    if (last !== undefined) yield last;
  } catch (error) {
    throw new WorkError(`--keys ${path}: ${(error as Error).message}`, {cause: error});
  }
}
