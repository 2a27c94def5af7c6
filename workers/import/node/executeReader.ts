/** Blocks of a node that are executed here: gas, receipts root and state root are compared with the header. */
import type {BlockReader} from "../../../sync/node/blockReader.ts";
import {ExecutionError} from "../../execution/errors.ts";
import type {ChainExecution} from "../chainExecution.ts";
import type {RawBlocks} from "./rawBlocks.ts";

/** Blocks in one batch. Their size bounds a range earlier, unless they are empty. */
const MAX_BLOCKS = 64;
/** What a block takes besides its bytes. */
const OVERHEAD_BYTES = 2048;

export function createExecuteReader(rawBlocks: RawBlocks, execution: ChainExecution): BlockReader {
  return {
    name: "execute",
    maxBlocks: MAX_BLOCKS,
    async read(node, from, to) {
      const blocks = await rawBlocks.read(node, from, to);
      return blocks.map(({head: {number, hash, parentHash}, bytes}) => ({
        number,
        hash,
        parentHash,
        bytes: bytes.length + OVERHEAD_BYTES,
        difference: () => execution.execute(bytes).catch(error => throwWithNode(error, node.name)),
      }));
    },
  };
}

/** A refused block is the node's lie, or our mistake: which node it was helps to tell. */
function throwWithNode(error: unknown, name: string): never {
  if (!(error instanceof ExecutionError)) throw error;
  throw new ExecutionError(error.code, `${error.message} (from the node ${name})`, {cause: error});
}
