/**
 * Reads what a store of slices takes from each block (storage/block/sliceBlock.ts): proofs of the contracts in it.
 *
 *   headers                              eth_getBlockByNumber           hash and link checked
 *   the contracts' accounts              eth_getProof                   their storage roots show which ones changed
 *   slots that changed                   traces                         only if a storage root changed
 *   proofs of these slots                eth_getProof                   at the block, and at its parent
 *
 * A node has the states of its newest blocks only. Of an older block that it has not, only the header is taken.
 */
import {AccountDifferences} from "../../../storage/block/accountDifferences.ts";
import type {BlockDifference, ChainConfig} from "../../../storage/block/blockDifference.ts";
import type {SliceContract, SlicedAddress} from "../../../storage/block/sliceBlock.ts";
import {isSame, toHex} from "../../../storage/hex.ts";
import {parseNumber} from "../../rpc/answerValues.ts";
import {type Node, NodeFailure, NodeRefusal} from "../../rpc/node.ts";
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

type Proofs = readonly NodeProof[];

export class SliceReader implements BlockReader {
  readonly name = "slice";
  readonly maxBlocks = MAX_BLOCKS;
  readonly beginsAtHead = true;
  /** The contracts' storage roots after a block, by its hash (0x text). */
  private readonly roots = new Map<string, readonly Uint8Array[]>();
  private readonly traces: TraceSlots;

  /** @param known - contracts that the store has. @param isEmpty - whether the next block begins the store. @param chain - for that block */
  constructor(
    private readonly contracts: readonly SlicedAddress[],
    private readonly known: Set<string>,
    private readonly chain: ChainConfig,
    private readonly isEmpty: () => boolean,
  ) {
    this.traces = new TraceSlots(contracts.map(({address}) => address));
  }

  async read(node: Node, from: number, to: number): Promise<readonly NodeBlock[]> {
    const blocks = await readLinkedBlocks(node, from, to, false, (block, header) =>
      parseBlockBesidesTraces(block, header, false, () => undefined),
    );
    const isEmpty = this.isEmpty();
    const read: NodeBlock[] = [];
    for (const [i, block] of blocks.entries())
      read.push(await this.readBlock(node, block, isEmpty && i === 0));
    return read;
  }

  private async readBlock(node: Node, block: BlockBesidesTraces, isFirst: boolean): Promise<NodeBlock> {
    const {number, hash, parentHash} = block.header;
    const proofs = await this.askProofs(node, number);
    const first = isFirst && number > 0 ? {number, ancestors: [parentHash]} : undefined;
    const chain = isFirst ? this.chain : undefined;
    const common = {header: block.header, accounts: new AccountDifferences(), first, chain};
    let difference: BlockDifference = {...common, slice: "missed"};
    let bytes = 0;
    if (proofs !== undefined) {
      const {contracts, nodes, isFresh} = await this.readSlots(node, block, proofs, isFirst);
      bytes = nodes.reduce((sum, {length}) => sum + length, 0);
      difference = {...common, slice: {nodes, contracts, isFresh}};
    } else if (isFirst) throw new NodeFailure(`block ${number}: the node does not have its state`);
    return {
      number,
      hash,
      parentHash,
      first,
      bytes,
      origin: `eth_getProof of ${node.name}`,
      difference: async () => difference,
    };
  }

  private async readSlots(
    node: Node,
    block: BlockBesidesTraces,
    proofs: Proofs,
    isFirst: boolean,
  ): Promise<{contracts: SliceContract[]; nodes: Uint8Array[]; isFresh: boolean}> {
    const {number, hash, parentHash} = block.header;
    const now = proofs.map(({storageHash}) => storageHash);
    this.noteRoots(hash, now);
    const before = isFirst ? undefined : await this.findRoots(node, number - 1, parentHash);
    const isFresh = before === undefined;
    const moved = now.map((root, i) => before !== undefined && !isSame(before[i], root));
    const slots = moved.includes(true) ? await this.traces.read(node, block) : new Map<string, string[]>();
    const nodes = proofs.flatMap(({account}) => account);
    const contracts: SliceContract[] = [];
    for (const [i, {address, isWhole}] of this.contracts.entries()) {
      const changed = moved[i] === true ? (slots.get(address) ?? []) : [];
      const [after, then] = await Promise.all(
        [number, number - 1].map(at => askSlots(node, address, changed, at)),
      );
      nodes.push(...(after ?? []).flat());
      contracts.push({
        address: Buffer.from(address.slice(2), "hex"),
        slots: changed.map((slot, at) => ({
          slot: Buffer.from(slot.slice(2), "hex"),
          before: then?.[at] ?? [],
        })),
        whole:
          isWhole && (isFresh || !this.known.has(address))
            ? await readWholeStorage(node, address, {number, hash})
            : undefined,
      });
    }
    for (const {address} of this.contracts) this.known.add(address);
    return {contracts, nodes, isFresh};
  }

  /** @returns undefined if the node does not have the state any more. @throws NodeRefusal if it has no newer one either */
  private async askProofs(node: Node, number: number): Promise<Proofs | undefined> {
    const calls = this.contracts.map(({address}) => proofCall(address, [], hexQuantity(number)));
    try {
      const answers = await node.requestAll(calls);
      return answers.map((answer, i) =>
        parseNodeProof(answer, 0, `block ${number}: eth_getProof of ${this.contracts[i]?.address}`),
      );
    } catch (error) {
      if (!(error instanceof NodeRefusal) || error.isCallError) throw error;
      const newest = parseNumber(await node.request("eth_blockNumber", []), "eth_blockNumber");
      if (number > newest - GIVEN_UP_BLOCKS) throw error;
      await node.requestAll(this.contracts.map(({address}) => proofCall(address, [], "latest")));
      return undefined;
    }
  }

  private async findRoots(
    node: Node,
    number: number,
    hash: Uint8Array,
  ): Promise<readonly Uint8Array[] | undefined> {
    const known = this.roots.get(toHex(hash));
    if (known !== undefined) return known;
    const proofs = await this.askProofs(node, number);
    if (proofs !== undefined)
      this.noteRoots(
        hash,
        proofs.map(({storageHash}) => storageHash),
      );
    return this.roots.get(toHex(hash));
  }

  private noteRoots(hash: Uint8Array, roots: readonly Uint8Array[]): void {
    this.roots.set(toHex(hash), roots);
    const [oldest] = this.roots.keys();
    if (this.roots.size > KNOWN_BLOCKS && oldest !== undefined) this.roots.delete(oldest);
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
