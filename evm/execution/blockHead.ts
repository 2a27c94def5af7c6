/** Decodes the header of an RLP block without reading its transactions. */
import {decodeHeader as decodeRlp, type WholeHeader} from "../../storage/block/headerRlp.ts";
import {RlpReader} from "../../storage/rlp/rlpReader.ts";
import {ExecutionError} from "./executionError.ts";

/** The header as it is stored and as the next block is checked against it. */
export type BlockHead = WholeHeader;

/** @throws ExecutionError BLOCK_INVALID if the bytes are not a block; the message begins with `where` */
export function decodeBlockHead(blockRlp: Uint8Array, where: string): BlockHead {
  return decode(where, "a block", () => {
    const block = new RlpReader(blockRlp).readList();
    const start = block.at;
    block.readList();
    return block.bytes.subarray(start, block.at);
  });
}

/** @throws ExecutionError BLOCK_INVALID if the bytes are not a header; the message begins with `where` */
export function decodeHeader(headerRlp: Uint8Array, where: string): BlockHead {
  return decode(where, "a block's header", () => headerRlp);
}

function decode(where: string, what: string, find: () => Uint8Array): BlockHead {
  try {
    // A copy, so that fields that are kept do not retain the memory of the block.
    return decodeRlp(new Uint8Array(find()));
  } catch (error) {
    const reason = (error as Error).message;
    throw new ExecutionError("BLOCK_INVALID", `${where}: expected ${what}, got other bytes: ${reason}`, {
      cause: error,
    });
  }
}
