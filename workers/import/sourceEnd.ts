/** A source that must end at a known block. The parent hash of the next block vouches for each block but the last. */
import {toHex} from "../../storage/hex.ts";
import {type SourceBlock, SourceError} from "./sourceStep.ts";

/**
 * Holds each block back until the source shows what comes after it, so that a wrong last block is never taken.
 *
 * @param head - 32 bytes: the last block's hash
 * @param signal - if it has ended `source` early, the block held back is dropped without an error
 * @throws SourceError if the source ends at another block, or has blocks after this one
 */
export async function* endAtHead(
  source: AsyncGenerator<SourceBlock>,
  head: Uint8Array,
  signal: AbortSignal,
): AsyncGenerator<SourceBlock> {
  let last: SourceBlock | undefined;
  for await (const block of source) {
    if (last !== undefined) {
      yield last;
      if (isHead(last, head))
        throw new SourceError(
          `expected the source to end at block ${last.number}, the head that --head names, got block ${block.number} after it`,
        );
    }
    last = block;
  }
  if (signal.aborted) return;
  const expected = `expected the source to end at the head ${toHex(head)}`;
  if (last === undefined) throw new SourceError(`${expected}, got no block`);
  if (!isHead(last, head))
    throw new SourceError(`${expected}, got block ${last.number} (${toHex(last.hash)})`);
  yield last;
}

function isHead({hash}: SourceBlock, head: Uint8Array): boolean {
  return Buffer.compare(hash, head) === 0;
}
