/**
 * Reads what a store of slices takes from each block (storage/block/sliceBlock.ts): proofs of the contracts in it.
 *
 *   headers                              eth_getBlockByNumber           hash and link checked
 *   the contracts' accounts              eth_getProof                   their storage roots show which ones changed
 *   slots that changed                   traces                         only if a storage root changed
 *   proofs of these slots                eth_getProof                   at the block, and at its parent
 *
 * A node has the states of its newest blocks only. An older block is read from an archive node, if there is one. Else only
 * its header is taken.
 */
import {AccountDifferences} from "../../../storage/block/accountDifferences.ts";
import type {ChainConfig} from "../../../storage/block/blockDifference.ts";
import type {SliceBlock, SliceContract, SlicedAddress} from "../../../storage/block/sliceBlock.ts";
import {isSame, toHex} from "../../../storage/hex.ts";
import {parseNumber} from "../../rpc/answerValues.ts";
import {findNamedBlock} from "../../rpc/namedBlock.ts";
import {type Node, NodeFailure, NodeRefusal, orRefusal} from "../../rpc/node.ts";
import type {BlockReader, NodeBlock} from "../blockReader.ts";
import {hexQuantity, readLinkedBlocks} from "../linkedBlocks.ts";
import {type BlockBesidesTraces, parseBlockBesidesTraces} from "../trace/blockBesidesTraces.ts";
import {TraceSlots} from "./changedSlots.ts";
import {type NodeProof, parseNodeProof, proofCall} from "./nodeProof.ts";
import {readWholeStorage} from "./wholeStorage.ts";

const MAX_BLOCKS = 8;
/** geth refuses more than 1024 in one call. */
const SLOTS_PER_CALL = 512;
/** A block that is at least so far below the node's newest, and whose state the node has not, is given up. */
const GIVEN_UP_BLOCKS = 8;
/** Storage roots of read blocks that are remembered. */
const KNOWN_BLOCKS = 64;

/** Most blocks that archive nodes are asked for in a second. */
const ARCHIVE_BLOCKS = 50;

type Proofs = readonly NodeProof[];
type ChangedSlots = SliceContract["slots"];
/** The contracts' storage roots after a block; undefined: they are not known. */
type Roots = readonly Uint8Array[] | undefined;

/** What a store of slices is made of, besides the blocks. */
interface SliceSettings {
  readonly contracts: readonly SlicedAddress[];
  /** For the block that begins the store. */
  readonly chain: ChainConfig;
  /** The number of that block. undefined: the node's newest one. */
  readonly from: number | undefined;
  /**
   * Runs work on a node that has old states, once there is one that answers. undefined: there are no such nodes.
   *
   * @throws NodeRefusal, or the reason why the import ends
   */
  readonly useArchive: (<T>(work: (node: Node) => Promise<T>) => Promise<T>) | undefined;
}

export class SliceReader implements BlockReader {
  readonly name = "slice";
  readonly maxBlocks = MAX_BLOCKS;
  private readonly contracts: readonly SlicedAddress[];
  /** By the block's hash (0x text); undefined: it was given up. */
  private readonly roots = new Map<string, Roots>();
  private readonly traces: TraceSlots;
  /** The first block with each contract of which all slots are wanted. Ranges of blocks are read side by side. */
  private readonly wholeFrom: Map<string, number>;
  private firstBlock = -1;
  /** When the next block may be asked of an archive node. */
  private dueMs = 0;

  /** @param known - contracts that the store has, and since which block. @param isEmpty - whether it has no block */
  constructor(
    private readonly settings: SliceSettings,
    known: ReadonlyMap<string, number>,
    private readonly isEmpty: () => boolean,
  ) {
    this.contracts = settings.contracts;
    this.traces = new TraceSlots(this.contracts.map(({address}) => address));
    this.wholeFrom = new Map(known);
  }

  begin(head: number): number {
    this.firstBlock = this.settings.from ?? head;
    return this.firstBlock;
  }

  async read(node: Node, from: number, to: number): Promise<readonly NodeBlock[]> {
    const blocks = await readLinkedBlocks(node, from, to, false, parseBlockBesidesTraces);
    const read: NodeBlock[] = [];
    // The states of old blocks are lost in order, so those before a lost one need not be asked for.
    let isLost = false;
    for (const block of blocks) {
      const isFirst = block.header.number === this.firstBlock && this.isEmpty();
      const own: SliceBlock | "missed" = isLost ? "missed" : await this.readSlice(node, block, isFirst);
      isLost = own === "missed" && (isLost || (await this.hasLost(node, from + blocks.length - 1)));
      const isEnough = own !== "missed" && (!own.isFresh || isFirst);
      const slice = isEnough ? own : ((await this.readArchive(block, isFirst)) ?? own);
      const {header} = block;
      const {number, hash, parentHash} = header;
      if (slice === "missed" && isFirst) throw new NodeFailure(`no node has the state of block ${number}`);
      if (slice === "missed") this.noteRoots(hash, undefined);
      const first = isFirst && number > 0 ? {number, ancestors: [parentHash]} : undefined;
      const chain = isFirst ? this.settings.chain : undefined;
      const difference = {header, accounts: new AccountDifferences(), first, chain, slice};
      const bytes = slice === "missed" ? 0 : slice.nodes.reduce((sum, {length}) => sum + length, 0);
      const origin = `eth_getProof of ${node.name}`;
      read.push({number, hash, parentHash, first, bytes, origin, difference: async () => difference});
    }
    return read;
  }

  /** @returns undefined if no archive node has its state either */
  private async readArchive(block: BlockBesidesTraces, isFirst: boolean): Promise<SliceBlock | undefined> {
    const {number, hash} = block.header;
    const {useArchive} = this.settings;
    if (useArchive === undefined) return undefined;
    const now = performance.now();
    this.dueMs = Math.max(this.dueMs, now) + 1000 / ARCHIVE_BLOCKS;
    await new Promise(resolve => setTimeout(resolve, this.dueMs - now));
    try {
      return await useArchive(async node => {
        const named = await findNamedBlock(node, number);
        if (named === undefined || !isSame(named.hash, hash))
          throw new NodeFailure(`it does not have block ${number} with hash ${toHex(hash)}`);
        const slice = await this.readSlice(node, block, isFirst);
        return slice === "missed" ? undefined : slice;
      });
    } catch (error) {
      if (error instanceof NodeRefusal && !error.isCallError) return undefined;
      throw error;
    }
  }

  /** @returns "missed" if the node no longer has the state */
  private async readSlice(
    node: Node,
    block: BlockBesidesTraces,
    isFirst: boolean,
  ): Promise<SliceBlock | "missed"> {
    const {number, hash, parentHash} = block.header;
    const proofs = await this.askProofs(node, number);
    if (proofs === undefined) return "missed";
    const now = this.noteRoots(hash, proofs) ?? [];
    const before = isFirst ? undefined : await this.findRoots(node, number - 1, parentHash);
    const changed = before && (await this.readChanges(node, block, before, now));
    const isFresh = changed === undefined;
    const nodes = proofs.flatMap(({account}) => account);
    const contracts: SliceContract[] = [];
    for (const {address, isWhole} of this.contracts) {
      const slots = changed?.get(address) ?? [];
      const names = slots.map(({slot}) => toHex(slot));
      nodes.push(...(await askSlots(node, address, names, number)).flat());
      const isLoaded = isWhole && (isFresh || number <= (this.wholeFrom.get(address) ?? number));
      if (isLoaded) this.wholeFrom.set(address, number);
      const whole = isLoaded ? await readWholeStorage(node, address, {number, hash}) : undefined;
      contracts.push({address: Buffer.from(address.slice(2), "hex"), slots, isWhole, whole});
    }
    return {nodes, contracts, isFresh};
  }

  /** @returns the slots that a block changed, by contract; undefined if the node no longer has its parent's state */
  private async readChanges(
    node: Node,
    block: BlockBesidesTraces,
    before: readonly Uint8Array[],
    now: readonly Uint8Array[],
  ): Promise<ReadonlyMap<string, ChangedSlots> | undefined> {
    const {number} = block.header;
    const moved = this.contracts.filter((_, i) => !isSame(before[i], now[i] as Uint8Array));
    if (moved.length === 0) return new Map();
    try {
      const slots = await this.traces.read(node, block);
      const changed = new Map<string, ChangedSlots>();
      for (const {address} of moved) {
        const names = slots.get(address) ?? [];
        const proofs = await askSlots(node, address, names, number - 1);
        const changes = names.map((name, i) => ({
          slot: Buffer.from(name.slice(2), "hex"),
          before: proofs[i] ?? [],
        }));
        changed.set(address, changes);
      }
      return changed;
    } catch (error) {
      if (!(error instanceof NodeRefusal)) throw error;
      if ((await this.askProofs(node, number - 1)) !== undefined) throw error;
      return undefined;
    }
  }

  /** @returns undefined if the node does not have the state any more. @throws NodeRefusal if it has no newer one either */
  private async askProofs(node: Node, number: number): Promise<Proofs | undefined> {
    const calls = (at: string) => this.contracts.map(({address}) => proofCall(address, [], at));
    for (let isSecond = false; ; isSecond = true)
      try {
        const answers = await node.requestAll(calls(hexQuantity(number)));
        return answers.map((answer, i) =>
          parseNodeProof(answer, 0, `block ${number}: eth_getProof of ${this.contracts[i]?.address}`),
        );
      } catch (error) {
        // Any code: reth calls the number of an old block an invalid parameter.
        if (!(error instanceof NodeRefusal)) throw error;
        const newest = parseNumber(await node.request("eth_blockNumber", []), "eth_blockNumber");
        if (number > newest - GIVEN_UP_BLOCKS) throw error;
        await node.requestAll(calls("latest"));
        // It may have been too busy the first time.
        if (isSecond) return undefined;
      }
  }

  /** @returns false also if the node refuses newer states too */
  private async hasLost(node: Node, number: number): Promise<boolean> {
    return (await orRefusal(this.askProofs(node, number))) === undefined;
  }

  private async findRoots(node: Node, number: number, hash: Uint8Array): Promise<Roots> {
    const key = toHex(hash);
    if (this.roots.has(key)) return this.roots.get(key);
    const proofs = await this.askProofs(node, number);
    return proofs && this.noteRoots(hash, proofs);
  }

  /** @param proofs - undefined: the block was given up */
  private noteRoots(hash: Uint8Array, proofs: Proofs | undefined): Roots {
    const roots = proofs?.map(({storageHash}) => storageHash);
    this.roots.set(toHex(hash), roots);
    const [oldest] = this.roots.keys();
    if (this.roots.size > KNOWN_BLOCKS && oldest !== undefined) this.roots.delete(oldest);
    return roots;
  }
}

async function askSlots(
  node: Node,
  address: string,
  slots: readonly string[],
  block: number,
): Promise<(readonly Uint8Array[])[]> {
  const proofs: (readonly Uint8Array[])[] = [];
  for (let at = 0; at < slots.length; at += SLOTS_PER_CALL) {
    const some = slots.slice(at, at + SLOTS_PER_CALL);
    const {method, params} = proofCall(address, some, hexQuantity(block));
    const answer = await node.request(method, params);
    const where = `block ${block}: eth_getProof of ${address}`;
    proofs.push(...parseNodeProof(answer, some.length, where).slots);
  }
  return proofs;
}
