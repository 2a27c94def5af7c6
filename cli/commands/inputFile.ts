/** Reads a file or standard input into memory. */
import {createReadStream} from "node:fs";
import {WorkError} from "../../server/lifecycle/workError.ts";
import {openFile} from "../../storage/regularFile.ts";

/** A chain_getProof of 1 024 absent slots has 12 MB, a chain_getMultiProof of 2 000 accounts 2 MB. */
const MAX_INPUT_BYTES = 64 * 2 ** 20;

/** @param what - for messages. @throws WorkError if it cannot be read, or has more than MAX_INPUT_BYTES */
export async function readInput(path: string, what: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of path === "-" ? process.stdin : createReadStream("", {fd: openFile(path)})) {
      length += (chunk as Buffer).length;
      if (length > MAX_INPUT_BYTES) break;
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    throw new WorkError(`cannot read ${what} from ${path}: ${(error as Error).message}`, {cause: error});
  }
  if (length > MAX_INPUT_BYTES)
    throw new WorkError(`${what} in ${path}: expected at most ${MAX_INPUT_BYTES} bytes, got more`);
  return Buffer.concat(chunks);
}
