/** Blocks of a node that are executed here: gas, receipts root and state root are compared with the header. */

import {ExecutionError} from "../../../evm/execution/executionError.ts";
import type {BlockReader} from "../../../nodes/blocks/blockReader.ts";
import type {ChainExecution} from "../chainExecution.ts";
import type {RawBlocks} from "./rawBlocks.ts";

/** The most blocks in one batch. Unless blocks are nearly empty, readAhead.ts asks for fewer because of their size. */
const MAX_BLOCKS = 64;
/** What a block takes besides its bytes. */
const OVERHEAD_BYTES = 2048;

export interface NodeExecution {
  readonly rawBlocks: RawBlocks;
  readonly execution: ChainExecution;
}

export function createExecuteReader({rawBlocks, execution}: NodeExecution): BlockReader {
  return {
    name: "execute",
    maxBlocks: MAX_BLOCKS,
    async read(node, from, to) {
      const blocks = await rawBlocks.read(node, from, to);
      // A block that comes alone is executed at once.
      if (blocks.length > 1) for (const {bytes} of blocks) execution.prepare(bytes);
      return blocks.map(({head: {number, hash, parentHash}, bytes}) => ({
        number,
        hash,
        parentHash,
        origin: `the block of ${node.name}`,
        bytes: bytes.length + OVERHEAD_BYTES,
        difference: () => execution.execute(bytes).catch(error => throwWithNode(error, node.name)),
      }));
    },
  };
}

/** Execution refuses a block if the node lies, or if proofd has a bug. The node's name helps to find out which. */
function throwWithNode(error: unknown, name: string): never {
  if (!(error instanceof ExecutionError)) throw error;
  throw new ExecutionError(error.code, `${error.message} (from the node ${name})`, {cause: error});
}
