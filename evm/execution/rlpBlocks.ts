/**
 * Splits the output of `geth export` into blocks: concatenated RLP lists.
 *
 *   0xc0 + n        list, payload of n bytes, n <= 55
 *   0xf7 + k        list, then k bytes of payload length (k 1..8, no leading zero, more than 55), then the payload
 *
 * Only the headers of these lists are read here. The caller decodes the blocks.
 */
import {count} from "../../storage/count.ts";
import {ExecutionError} from "./executionError.ts";

/** Eight times the limit of EIP-7934 (8 MiB). A greater length means a damaged file, which must not fill memory. */
export const MAX_BLOCK_BYTES = 64 << 20;

interface RlpBlock {
  /** The list with its header. The caller owns it. */
  readonly bytes: Uint8Array;
  /** Index of the block in the file, from 0. */
  readonly position: number;
}

const LONG_LIST = 0xf7;
const SHORT_LIST = 0xc0;

/**
 * Buffers at most one block and one chunk. @throws ExecutionError RLP_INVALID with position and byte offset
 *
 * @param signal - if it has ended `chunks`, a truncated last block is no error
 */
export async function* readRlpBlocks(
  chunks: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<RlpBlock, void, void> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  /** Nothing can be read from fewer bytes. */
  let needed = 1;
  let offset = 0;
  let position = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    bytes += chunk.length;
    if (bytes < needed) continue;
    let rest = parts.length === 1 ? chunk : Buffer.concat(parts);
    for (;;) {
      needed = readLength(rest, position, offset);
      if (needed > MAX_BLOCK_BYTES)
        throw invalid(position, offset, `is ${needed} bytes long, more than the limit of ${MAX_BLOCK_BYTES}`);
      if (rest.length < needed) break;
      yield {bytes: new Uint8Array(rest.subarray(0, needed)), position};
      rest = rest.subarray(needed);
      offset += needed;
      position++;
    }
    parts = [rest];
    bytes = rest.length;
  }
  if (bytes > 0 && signal?.aborted !== true)
    throw invalid(position, offset, `is truncated: the file ends ${count(bytes, "byte")} after its start`);
}

/** @returns the length of the list with its header; a lower bound if `bytes` end within the header */
function readLength(bytes: Uint8Array, position: number, offset: number): number {
  const first = bytes[0];
  if (first === undefined) return 1;
  if (first < SHORT_LIST)
    throw invalid(
      position,
      offset,
      `begins with 0x${first.toString(16).padStart(2, "0")}, not with an RLP list`,
    );
  if (first <= LONG_LIST) return 1 + first - SHORT_LIST;
  const lengthBytes = first - LONG_LIST;
  if (bytes.length < 1 + lengthBytes) return 1 + lengthBytes;
  let payloadBytes = 0;
  for (let i = 1; i <= lengthBytes; i++) payloadBytes = payloadBytes * 256 + (bytes[i] ?? 0);
  if (bytes[1] === 0 || payloadBytes <= LONG_LIST - SHORT_LIST)
    throw invalid(position, offset, "has a list length that is not written in its shortest form");
  return 1 + lengthBytes + payloadBytes;
}

function invalid(position: number, offset: number, reason: string): ExecutionError {
  return new ExecutionError(
    "RLP_INVALID",
    `block at position ${position} of the file (byte ${offset}) ${reason}`,
  );
}
