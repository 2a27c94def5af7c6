/**
 * Reads the finalizations of a rollup contract from layer 1, range by range, up to layer 1's newest final block.
 *
 *    mark (read before)      one step                  head: layer 1's finalized block, or its newest less a depth
 *   ----------|--------------------------------|-----------------|
 *        hash compared                   hash remembered
 *
 * One node serves a whole step. If the hash of its block at the mark is not the stored one, the step starts again from
 * the last recorded finalization, which must still be there. So a step never joins two chains, even if each step is
 * served by another node.
 */
import type {Finalization} from "../../storage/block/finalization.ts";
import type {Layer1Mark} from "../../storage/block/layer1Mark.ts";
import {toHex} from "../../storage/hex.ts";
import {AnswerTooLong} from "../rpc/endpoint.ts";
import {type NamedBlock, readNamedBlock} from "../rpc/namedBlock.ts";
import {Contradiction, type Node, NodeFailure, NodeRefusal} from "../rpc/node.ts";
import type {Nodes} from "../rpc/nodes.ts";
import {RequestSize} from "../rpc/requestSize.ts";
import {readFinalized} from "./finalizedTag.ts";
import {
  isAfter,
  LOAD_BALANCER_HINT,
  type RollupEvent,
  type RollupRange,
  readRollupEvents,
} from "./rollupEvents.ts";

const FIRST_BLOCKS = 1_000;
const MOST_BLOCKS = 100_000;
const ANSWERS_BEFORE_GROWTH = 16;

export interface RollupSettings {
  /** 20 bytes. */
  readonly contract: Uint8Array;
  /** The first layer-1 block to read. undefined: the block of the contract's deployment. */
  readonly from: number | undefined;
  /** Confirmations of a final layer-1 block. undefined: layer 1's finalized tag decides. */
  readonly depth: number | undefined;
}

export interface ReadPosition {
  /** All events up to it were read. undefined: events are read again from `last` on. */
  readonly mark: Layer1Mark | undefined;
  /** The last recorded event, which the next one must follow. */
  readonly last: Finalization | undefined;
}

export interface RollupStep {
  /** The mark at which the step starts: that of the position, unless events are read again. */
  readonly after: Layer1Mark;
  /** All events of the contract in the blocks above `after`, up to this one. Only those after `last`. */
  readonly mark: Layer1Mark;
  readonly events: readonly RollupEvent[];
  /** The newest layer-1 block that is final. A step whose mark is this block has read everything. */
  readonly head: number;
  /** Name of the node that served it. */
  readonly node: string;
}

/** Nothing was read: block `awaits`, the one before the first block to read, is not final yet. */
export interface AwaitedStart {
  readonly awaits: number;
  readonly head: number;
}

export class RollupWatch {
  /** Blocks of one eth_getLogs. Nodes allow 1 000 to 100 000, or a number of results. */
  private readonly range = new RequestSize(FIRST_BLOCKS, MOST_BLOCKS, ANSWERS_BEFORE_GROWTH);

  constructor(
    private readonly nodes: Pick<Nodes, "use">,
    private readonly settings: RollupSettings,
  ) {}

  /**
   * Reads the next range, once a node answers. @returns no events and the same mark if there is nothing new
   *
   * @throws Contradiction; the signal's reason
   */
  read(position: ReadPosition, signal: AbortSignal): Promise<RollupStep | AwaitedStart> {
    return this.nodes.use(node => this.readFrom(node, position), signal);
  }

  private async readFrom(node: Node, {mark, last}: ReadPosition): Promise<RollupStep | AwaitedStart> {
    const head = await this.readHead(node);
    const awaits = (this.settings.from ?? 0) - 1;
    if (mark === undefined && last === undefined && awaits > head.number) return {awaits, head: head.number};
    const base = {head: head.number, node: node.name};
    // This node may lag behind the one that served the last step.
    if (mark !== undefined && head.number < mark.block) return {after: mark, mark, events: [], ...base};
    const isSame = mark !== undefined && (await this.hasBlock(node, head, mark));
    const after = isSame ? mark : await this.startingMark(node, head, last);
    if (after.block >= head.number) return {after, mark: after, events: [], ...base};
    const range = await this.readRange(node, after.block + 1, head);
    if (!isSame && last !== undefined && !range.events.some(event => isRecorded(event, last)))
      throw new Contradiction(
        `layer-1 block ${last.layer1Block} has no finalization up to block ${last.endBlock} by transaction ${toHex(last.transactionHash)} any more, but that one is recorded (${node.name})`,
      );
    const {number: block, hash: blockHash} = range.last;
    const events = range.events.filter(event => last === undefined || isAfter(event, last));
    return {after, mark: {block, blockHash, contract: this.settings.contract}, events, ...base};
  }

  private async hasBlock(node: Node, head: NamedBlock, mark: Layer1Mark): Promise<boolean> {
    const known = head.number === mark.block ? head : await readNamedBlock(node, mark.block);
    return Buffer.compare(known.hash, mark.blockHash) === 0;
  }

  private async readRange(node: Node, from: number, head: NamedBlock): Promise<RollupRange> {
    for (;;) {
      const to = Math.min(head.number, from + this.range.value - 1);
      try {
        const range = await readRollupEvents(node, this.settings.contract, from, to);
        requireHash(range);
        // The final block must be the one up to which the events were read.
        if (to === head.number && Buffer.compare(head.hash, range.last.hash) !== 0)
          throw new NodeFailure(
            `its block ${to} is ${toHex(head.hash)} and then ${toHex(range.last.hash)}: ${LOAD_BALANCER_HINT}`,
          );
        this.range.noteAnswer();
        return range;
      } catch (error) {
        const isSmaller = this.range.noteRefusal(to - from + 1);
        // A timeout is a NodeFailure. It too may come from too wide a range, so the next attempt is narrower.
        if (!(error instanceof NodeRefusal || error instanceof AnswerTooLong)) throw error;
        if (!isSmaller)
          throw new NodeFailure(`it refuses the events of layer-1 block ${from}: ${error.message}`, {
            cause: error,
          });
      }
    }
  }

  private async readHead(node: Node): Promise<NamedBlock> {
    const {depth} = this.settings;
    if (depth !== undefined) {
      const latest = await readNamedBlock(node, "latest");
      return readNamedBlock(node, Math.max(0, latest.number - depth));
    }
    return readFinalized(node, "give --l1-depth if it does not know this tag");
  }

  /** The mark just before the block of the last finalization, or before the first block to read. */
  private async startingMark(
    node: Node,
    head: NamedBlock,
    last: Finalization | undefined,
  ): Promise<Layer1Mark> {
    const {contract, from} = this.settings;
    const first = last?.layer1Block ?? from ?? (await findDeployment(node, contract, head.number));
    if (first > head.number + 1)
      throw new Contradiction(
        `the last finalization that is recorded is in layer-1 block ${first}, but layer 1 is final up to block ${head.number} only (${node.name})`,
      );
    const {number: block, hash: blockHash} = await readNamedBlock(node, Math.max(first - 1, 0));
    return {block, blockHash, contract};
  }
}

function isRecorded(event: Finalization, recorded: Finalization): boolean {
  return (
    event.endBlock === recorded.endBlock &&
    event.layer1Block === recorded.layer1Block &&
    Buffer.compare(event.transactionHash, recorded.transactionHash) === 0 &&
    event.names === recorded.names &&
    Buffer.compare(event.final, recorded.final) === 0
  );
}

/** The hash of the new mark must be that in the events of the same block. */
function requireHash({events, last}: RollupRange): void {
  const other = events.find(
    ({layer1Block, layer1Hash}) => layer1Block === last.number && Buffer.compare(layer1Hash, last.hash) !== 0,
  );
  if (other !== undefined)
    throw new NodeFailure(
      `the event in layer-1 block ${last.number} is of ${toHex(other.layer1Hash)}, but the block has hash ${toHex(last.hash)}`,
    );
}

/**
 * Bisects eth_getCode: 24 calls for 16 million blocks. @param head - the newest final block
 *
 * @returns the first block after which the contract has code; 0 if the node does not have the state of old blocks
 * @throws Contradiction if the contract has no code at `head`, NodeFailure
 */
async function findDeployment(node: Node, contract: Uint8Array, head: number): Promise<number> {
  if (!(await hasCode(node, contract, head)))
    throw new Contradiction(
      `${toHex(contract)} has no code at layer-1 block ${head}: expected the rollup contract`,
    );
  try {
    let low = 0;
    let high = head;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (await hasCode(node, contract, middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  } catch (error) {
    if (error instanceof NodeRefusal) return 0;
    throw error;
  }
}

async function hasCode(node: Node, contract: Uint8Array, block: number): Promise<boolean> {
  const code = await node.request("eth_getCode", [toHex(contract), `0x${block.toString(16)}`]);
  if (typeof code !== "string" || !code.startsWith("0x"))
    throw new NodeFailure(`its response to eth_getCode is not 0x hex`);
  return code.length > 2;
}
