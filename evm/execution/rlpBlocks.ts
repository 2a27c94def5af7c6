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

interface ListHead {
  readonly headBytes: number;
  readonly payloadBytes: number;
}

const LONG_LIST = 0xf7;
const SHORT_LIST = 0xc0;
const MAX_HEAD_BYTES = 9;

/**
 * Yields the blocks of `chunks` in order. Buffers at most one block and one chunk.
 *
 * @param signal - if it was aborted and ended `chunks`, a truncated last block is not an error
 * @throws ExecutionError RLP_INVALID with the block's position and the byte offset
 */
export async function* readRlpBlocks(
  chunks: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<RlpBlock, void, void> {
  const pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let offset = 0;
  let position = 0;
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue;
    pending.push(chunk);
    pendingBytes += chunk.length;
    for (;;) {
      const head = readListHead(peek(pending, Math.min(pendingBytes, MAX_HEAD_BYTES)), position, offset);
      if (head === undefined) break;
      const length = head.headBytes + head.payloadBytes;
      if (length > MAX_BLOCK_BYTES)
        throw invalid(position, offset, `is ${length} bytes long, more than the limit of ${MAX_BLOCK_BYTES}`);
      if (pendingBytes < length) break;
      yield {bytes: take(pending, length), position};
      pendingBytes -= length;
      offset += length;
      position++;
    }
  }
  if (pendingBytes > 0 && signal?.aborted !== true)
    throw invalid(
      position,
      offset,
      `is truncated: the file ends ${count(pendingBytes, "byte")} after its start`,
    );
}

/** @returns undefined if more bytes are needed */
function readListHead(bytes: Uint8Array, position: number, offset: number): ListHead | undefined {
  const first = bytes[0];
  if (first === undefined) return undefined;
  if (first < SHORT_LIST)
    throw invalid(
      position,
      offset,
      `begins with 0x${first.toString(16).padStart(2, "0")}, not with an RLP list`,
    );
  if (first <= LONG_LIST) return {headBytes: 1, payloadBytes: first - SHORT_LIST};
  const lengthBytes = first - LONG_LIST;
  if (bytes.length < 1 + lengthBytes) return undefined;
  let payloadBytes = 0;
  for (let i = 1; i <= lengthBytes; i++) payloadBytes = payloadBytes * 256 + (bytes[i] ?? 0);
  if (bytes[1] === 0 || payloadBytes <= LONG_LIST - SHORT_LIST)
    throw invalid(position, offset, "has a list length that is not written in its shortest form");
  return {headBytes: 1 + lengthBytes, payloadBytes};
}

/** The first `count` bytes of `pending`, which has at least as many. Usually a view. */
function peek(pending: readonly Uint8Array[], count: number): Uint8Array {
  const first = pending[0];
  if (first === undefined || first.length >= count) return first?.subarray(0, count) ?? new Uint8Array(0);
  return Buffer.concat(pending.slice(0, count), count);
}

/** Removes the first `count` bytes from `pending`, which has at least as many. @returns a copy */
function take(pending: Uint8Array[], count: number): Uint8Array {
  const taken = new Uint8Array(count);
  let filled = 0;
  let used = 0;
  for (const chunk of pending) {
    const part = chunk.subarray(0, count - filled);
    taken.set(part, filled);
    filled += part.length;
    if (part.length < chunk.length) {
      pending[used] = chunk.subarray(part.length);
      break;
    }
    used++;
    if (filled === count) break;
  }
  pending.splice(0, used);
  return taken;
}

function invalid(position: number, offset: number, reason: string): ExecutionError {
  return new ExecutionError(
    "RLP_INVALID",
    `block at position ${position} of the file (byte ${offset}) ${reason}`,
  );
}
