/** Blocks of a node, executed here: RLP from debug_getRawBlock, or encoded from eth_getBlockByNumber (anvil). */
import {checkBlockBody} from "../../../evm/execution/blockBody.ts";
import {type BlockHead, decodeBlockHead} from "../../../evm/execution/blockHead.ts";
import {ExecutionError} from "../../../evm/execution/executionError.ts";
import type {ForkSchedule} from "../../../evm/execution/forkSchedule.ts";
import type {BlockReader, NodeBlock} from "../../../nodes/blocks/blockReader.ts";
import {encodeJsonBlock} from "../../../nodes/blocks/jsonBlock.ts";
import {parseBytes} from "../../../nodes/rpc/answerValues.ts";
import {findNamedBlock} from "../../../nodes/rpc/namedBlock.ts";
import {type Node, type NodeCall, NodeFailure, NodeRefusal} from "../../../nodes/rpc/node.ts";
import type {SourceEvent} from "../../messages/importSource.ts";
import {ChainExecution} from "../chainExecution.ts";
import type {SourceHost} from "../sourceHost.ts";

/** For one batch. readAhead.ts asks for fewer unless blocks are nearly empty. */
const MAX_BLOCKS = 64;
/** Memory of a block besides its bytes. */
const OVERHEAD_BYTES = 2048;
const RAW = "debug_getRawBlock";
const JSON_BLOCK = "eth_getBlockByNumber";
/** geth's raw block of a number that it does not have. */
const NO_BYTES = "0x";
/** Messages may quote what the node sent. */
const MAX_REASON_CHARS = 500;

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

interface RawBlock {
  readonly head: BlockHead;
  readonly bytes: Uint8Array;
}

export class RawBlocks {
  private readonly methods = new Map<string, typeof RAW | typeof JSON_BLOCK>();

  /** @param onEvent - called once for each node, with the method that reads its blocks and why this one */
  constructor(
    private readonly forks: ForkSchedule,
    private readonly onEvent: (event: SourceEvent) => void,
  ) {}

  /**
   * Checks numbers, links and bodies. @returns blocks from `from` on; fewer, or none, if the node lacks the rest
   *
   * @throws NodeRefusal, NodeFailure
   */
  async read(node: Node, from: number, to: number): Promise<readonly RawBlock[]> {
    const method = this.methods.get(node.name) ?? (await this.probe(node));
    const answers = await this.ask(node, method, from, to);
    const blocks: RawBlock[] = [];
    for (const [at, answer] of answers.entries()) {
      if ((answer ?? undefined) === undefined || answer === NO_BYTES) break;
      const number = from + at;
      const block = this.decode(node, method, number, answer);
      const before = blocks.at(-1);
      if (before !== undefined && Buffer.compare(block.head.parentHash, before.head.hash) !== 0)
        throw new NodeFailure(
          `${node.name}: ${method}: block ${number} does not follow the node's own block ${number - 1}`,
        );
      blocks.push(block);
    }
    return blocks;
  }

  private async probe(node: Node): Promise<typeof RAW | typeof JSON_BLOCK> {
    let method: typeof RAW | typeof JSON_BLOCK = RAW;
    let why = `the node answers ${RAW}`;
    try {
      await node.request(RAW, ["0x0"]);
    } catch (error) {
      if (!(error instanceof NodeRefusal)) throw error;
      method = JSON_BLOCK;
      why = `the node refuses ${RAW}: ${error.message}`;
    }
    // Ranges that are read concurrently probe it together.
    if (!this.methods.has(node.name)) this.onEvent({kind: "method", name: node.name, method, why});
    this.methods.set(node.name, method);
    return method;
  }

  private async ask(node: Node, method: string, from: number, to: number): Promise<readonly unknown[]> {
    const calls: NodeCall[] = [];
    for (let block = from; block <= to; block++) {
      const tag = `0x${block.toString(16)}`;
      calls.push({method, params: method === RAW ? [tag] : [tag, true]});
    }
    try {
      return await node.requestAll(calls);
    } catch (error) {
      if (!(error instanceof NodeRefusal)) throw error;
      // Some nodes refuse debug_getRawBlock for a block that they do not have.
      const head = await findNamedBlock(node, "latest");
      if (head === undefined || head.number >= to) throw error.about(from, to);
      return head.number < from ? [] : this.ask(node, method, from, head.number);
    }
  }

  private decode(node: Node, method: string, number: number, answer: unknown): RawBlock {
    let block: RawBlock;
    try {
      // A copy that is not a Buffer: the EVM expects `slice` to copy.
      const bytes =
        method === RAW
          ? new Uint8Array(parseBytes(answer, `block ${number}`))
          : encodeJsonBlock(answer, number);
      block = {bytes, head: decodeBlockHead(bytes, "the answer")};
      if (method === JSON_BLOCK) this.checkFork(block.head);
      checkBlockBody(bytes);
    } catch (error) {
      const reason = (error as Error).message.slice(0, MAX_REASON_CHARS);
      // A NodeFailure names the block itself.
      const where = error instanceof NodeFailure ? "" : `block ${number}: `;
      throw new NodeFailure(`${node.name}: ${method}: ${where}${reason}`, {cause: error});
    }
    if (block.head.number !== number)
      throw new NodeFailure(
        `${node.name}: ${method}: expected block ${number}, got block ${block.head.number}`,
      );
    return block;
  }

  /** The header's difficulty must be one that the block's fork allows. */
  private checkFork(head: BlockHead): void {
    try {
      this.forks.forkAt(head);
    } catch (error) {
      throw new Error(`it ${(error as Error).message}`, {cause: error});
    }
  }
}
