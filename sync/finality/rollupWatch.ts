/**
 * Reads the finalizations of a rollup contract from layer 1, range by range, up to the newest block that layer 1 calls final.
 *
 *    mark (read before)      one step                  head: layer 1's finalized block, or its newest less a depth
 *   ----------|--------------------------------|-----------------|
 *        hash compared                   hash remembered
 *
 * One node gives everything in a step. Its block at the mark must have the hash that was remembered. So a step never joins two
 * chains, even if each step comes from another node.
 */
import type {Layer1Mark} from "../../storage/block/layer1Mark.ts";
import type {FinalityStep} from "../../storage/commit/finalityStep.ts";
import {toHex} from "../../storage/hex.ts";
import {AnswerTooLong} from "../rpc/endpoint.ts";
import {type NamedBlock, readNamedBlock} from "../rpc/namedBlock.ts";
import {type Node, NodeFailure, NodeRefusal} from "../rpc/node.ts";
import type {Nodes} from "../rpc/nodes.ts";
import {Contradiction} from "./contradiction.ts";
import {findDeployment} from "./deployment.ts";
import {LogRange} from "./logRange.ts";
import {BALANCED, type RollupRange, readRollupEvents} from "./rollupEvents.ts";

export interface RollupSettings {
  /** 20 bytes. */
  readonly contract: Uint8Array;
  /** The first layer-1 block whose events count. undefined: the block of the contract's deployment. */
  readonly from: number | undefined;
  /** Layer-1 blocks count once this many are above them. undefined: when layer 1 calls them finalized. */
  readonly depth: number | undefined;
}

export interface RollupStep extends FinalityStep {
  /** The mark at which the step begins. All events of the step are in blocks above it. */
  readonly after: Layer1Mark;
  /** The newest layer-1 block that is final. The step whose mark is this block has read everything. */
  readonly head: number;
}

/** Nothing was read: the first block whose events count is above the next one. */
export interface AwaitedStart {
  /** The block before it. */
  readonly awaits: number;
  /** The newest layer-1 block that is final. */
  readonly head: number;
}

export class RollupWatch {
  private readonly nodes: Pick<Nodes, "use">;
  private readonly settings: RollupSettings;
  private readonly range = new LogRange();
  /** The highest finalized block that each node has named. */
  private readonly heads = new Map<string, number>();

  constructor(nodes: Pick<Nodes, "use">, settings: RollupSettings) {
    this.nodes = nodes;
    this.settings = settings;
  }

  /**
   * Reads the next range after `mark`. Waits for a node that answers.
   *
   * @param mark - undefined: nothing was read yet
   * @returns a step without events, and with the same mark, if there is nothing new. Of settings whose first block is above the
   *   head, no step before layer 1 is final up to the block below
   * @throws Contradiction; the signal's reason
   */
  read(mark: Layer1Mark | undefined, signal: AbortSignal): Promise<RollupStep | AwaitedStart> {
    return this.nodes.use(node => this.readFrom(node, mark), signal);
  }

  private async readFrom(node: Node, mark: Layer1Mark | undefined): Promise<RollupStep | AwaitedStart> {
    const head = await this.readHead(node);
    const awaits = (this.settings.from ?? 0) - 1;
    if (mark === undefined && awaits > head.number) return {awaits, head: head.number};
    const after = mark ?? (await this.begin(node, head));
    const nothing = {after, mark: after, events: [], head: head.number};
    // Another node may be behind the one that was asked before.
    if (head.number < after.block) return nothing;
    const known = head.number === after.block ? head : await readNamedBlock(node, after.block);
    if (Buffer.compare(known.hash, after.blockHash) !== 0)
      throw new Contradiction(
        `layer-1 block ${after.block} had hash ${toHex(after.blockHash)} when it was read, now it has ${toHex(known.hash)} (${node.name})`,
      );
    if (head.number === after.block) return nothing;
    const {events, last} = await this.readRange(node, after.block + 1, head);
    const next = {block: last.number, blockHash: last.hash, contract: this.settings.contract};
    return {after, mark: next, events, head: head.number};
  }

  /** Reads as many blocks as the node allows. */
  private async readRange(node: Node, from: number, head: NamedBlock): Promise<RollupRange> {
    for (;;) {
      const to = Math.min(head.number, from + this.range.blocks - 1);
      try {
        const range = await readRollupEvents(node, this.settings.contract, from, to);
        requireHash(range);
        if (to === head.number) requireSame(head, range.last);
        this.range.noteAnswer();
        return range;
      } catch (error) {
        const isSmaller = this.range.noteRefusal(to - from + 1);
        // A time-out is a NodeFailure. It too may come from too wide a range, so the next try is narrower.
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
    const head = await readFinalized(node);
    const before = this.heads.get(node.name) ?? 0;
    if (head.number < before)
      throw new Contradiction(
        `layer 1 took back what was final: ${node.name} named block ${before} finalized before, now ${head.number}`,
      );
    this.heads.set(node.name, head.number);
    return head;
  }

  /** The mark just before the first block whose events count. Block 0 can have none. */
  private async begin(node: Node, head: NamedBlock): Promise<Layer1Mark> {
    const {contract, from} = this.settings;
    const first = from ?? (await findDeployment(node, contract, head.number));
    const {number: block, hash: blockHash} = await readNamedBlock(node, Math.max(first - 1, 0));
    return {block, blockHash, contract};
  }
}

async function readFinalized(node: Node): Promise<NamedBlock> {
  try {
    return await readNamedBlock(node, "finalized");
  } catch (error) {
    if (!(error instanceof NodeRefusal)) throw error;
    const hint = "give --l1-depth if it does not know this tag";
    throw new NodeFailure(`it names no finalized block: ${error.message}; ${hint}`, {cause: error});
  }
}

/** The hash that is remembered must be the one that the events of the last block name. */
function requireHash({events, last}: RollupRange): void {
  const other = events.find(
    ({layer1Block, layer1Hash}) => layer1Block === last.number && Buffer.compare(layer1Hash, last.hash) !== 0,
  );
  if (other !== undefined)
    throw new NodeFailure(
      `the event in layer-1 block ${last.number} is of ${toHex(other.layer1Hash)}, but the block has hash ${toHex(last.hash)}`,
    );
}

/** The block that was called final must be the one that the events were read up to. */
function requireSame({number, hash}: NamedBlock, last: NamedBlock): void {
  if (Buffer.compare(hash, last.hash) !== 0)
    throw new NodeFailure(`its block ${number} is ${toHex(hash)} and then ${toHex(last.hash)}: ${BALANCED}`);
}
