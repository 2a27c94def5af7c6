/** A chain that is executed from its genesis file and its RLP blocks. Tests run it with `executeChainOn`. */
import {createReadStream, readFileSync} from "node:fs";
import {join} from "node:path";
import {BlockExecutor} from "../../../evm/execution/blockExecutor.ts";
import type {Genesis} from "../../../evm/execution/genesis.ts";
import {readRlpBlocks} from "../../../evm/execution/rlpBlocks.ts";
import type {AccountDifference} from "../../../storage/block/accountDifference.ts";
import type {BlockDifference} from "../../../storage/block/blockDifference.ts";
import type {BlockTrie} from "../../../storage/block/blockTrie.ts";
import {toHex} from "../../../storage/hex.ts";
import {MemoryTries} from "../../../storage/trie/memoryTries.ts";
import {parseGenesis} from "../evm/genesisText.ts";
import type {OwnThread} from "../processes/ownThread.ts";
import {type MemoryAccount, MemoryState} from "./memoryState.ts";

export interface ChainFiles {
  readonly genesis: Genesis;
  /** From block 1 on. */
  readonly blocks: readonly Uint8Array[];
}

/** What a difference says, without the class that packs it, so that it can cross between threads. */
export interface PlainDifference {
  readonly header: BlockDifference["header"];
  /** By address, 0x and 40 digits. */
  readonly changes: ReadonlyMap<string, AccountDifference["change"]>;
}

/** Crosses between threads. */
export interface ExecutedChain {
  /** Of each block from 0 on. */
  readonly differences: readonly PlainDifference[];
  /** The root of the trie of all differences up to a block, by the numbers that were asked for. */
  readonly roots: ReadonlyMap<number, Uint8Array>;
  readonly accounts: ReadonlyMap<string, MemoryAccount>;
  /** That of each block. */
  readonly tries: readonly (BlockTrie | undefined)[];
  readonly pages: readonly Uint8Array[];
  readonly codes: ReadonlyMap<string, Uint8Array>;
}

/** @param folder - has genesis.json and chain.rlp */
export async function readChainFiles(folder: string): Promise<ChainFiles> {
  const blocks: Uint8Array[] = [];
  for await (const {bytes} of readRlpBlocks(createReadStream(join(folder, "chain.rlp")))) blocks.push(bytes);
  return {genesis: parseGenesis(readFileSync(join(folder, "genesis.json"), "utf8")), blocks};
}

interface ExecutionRequest {
  readonly folder: string;
  /** The roots of blocks whose number it divides are made. */
  readonly rootsOf: number;
}

export function executeChainOn(thread: OwnThread, request: ExecutionRequest): Promise<ExecutedChain> {
  return thread.run(new URL(import.meta.url), "executeChain", request);
}

export async function executeChain({folder, rootsOf}: ExecutionRequest): Promise<ExecutedChain> {
  const {genesis, blocks} = await readChainFiles(folder);
  const store = new MemoryTries();
  const state = new MemoryState();
  const options = {forks: genesis.forks, store, blockHash: () => undefined};
  const {executor, difference} = await BlockExecutor.start(options, genesis);
  state.apply(difference);
  const differences = [toPlain(difference)];
  const tries = [difference.trie];
  const roots = new Map<number, Uint8Array>();
  for (const [position, block] of blocks.entries()) {
    const next = await executor.execute(block);
    state.apply(next);
    differences.push(toPlain(next));
    tries.push(next.trie);
    if ((position + 1) % rootsOf === 0) roots.set(position + 1, await state.computeTrieRoot());
  }
  return {differences, roots, accounts: state.accounts, tries, pages: store.pages, codes: store.codes};
}

export function toPlain({header, accounts}: BlockDifference): PlainDifference {
  const changes = Array.from({length: accounts.count}, (_, i) => accounts.at(i));
  return {header, changes: new Map(changes.map(({address, change}) => [toHex(address), change]))};
}

/** A difference lists an account's slots in any order. */
export function sortSlots({header, changes}: PlainDifference): PlainDifference {
  const sorted = [...changes].map(([address, change]) => {
    const storage = change?.storage?.toSorted((a, b) => Buffer.compare(a.slot, b.slot));
    return [address, change && storage ? {...change, storage} : change] as const;
  });
  return {header, changes: new Map(sorted)};
}
