/** Blocks of a node that are executed here: gas, receipts root and state root are compared with the header. */
import {ExecutionError} from "../../../evm/execution/executionError.ts";
import type {ForkSchedule} from "../../../evm/execution/forkSchedule.ts";
import type {BlockReader, NodeBlock} from "../../../nodes/blocks/blockReader.ts";
import type {Node} from "../../../nodes/rpc/node.ts";
import {ChainExecution} from "../chainExecution.ts";
import type {SourceHost} from "../sourceHost.ts";
import {RawBlocks} from "./rawBlocks.ts";

/** For one batch. readAhead.ts asks for fewer unless blocks are nearly empty. */
const MAX_BLOCKS = 64;
/** Memory of a block besides its bytes. */
const OVERHEAD_BYTES = 2048;

export class ExecuteReader implements BlockReader {
  readonly name = "execute";
  readonly maxBlocks = MAX_BLOCKS;
  readonly rawBlocks: RawBlocks;
  readonly execution: ChainExecution;

  constructor(forks: ForkSchedule, host: SourceHost) {
    this.rawBlocks = new RawBlocks(forks, host.onEvent);
    this.execution = new ChainExecution(forks, host);
  }

  async read(node: Node, from: number, to: number): Promise<readonly NodeBlock[]> {
    const blocks = await this.rawBlocks.read(node, from, to);
    // A block that comes alone is executed immediately.
    if (blocks.length > 1) for (const {bytes} of blocks) this.execution.senders.ask(bytes);
    return blocks.map(({head: {number, hash, parentHash}, bytes}) => ({
      number,
      hash,
      parentHash,
      origin: `the block of ${node.name}`,
      bytes: bytes.length + OVERHEAD_BYTES,
      difference: () => this.execution.execute(bytes).catch(error => throwWithNode(error, node.name)),
    }));
  }
}

/** Execution refuses a block if the node lies, or if proofd has a bug. The node's name helps to tell which. */
function throwWithNode(error: unknown, name: string): never {
  if (!(error instanceof ExecutionError)) throw error;
  throw new ExecutionError(error.code, `${error.message} (from the node ${name})`, {cause: error});
}
