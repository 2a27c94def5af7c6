/**
 * The measured stores, which also have Ethereum's state trie. They are created once and kept between runs.
 *
 *   bench-data/<suite>-<accounts>-<blocks>-v<layout>/db/     relative to the working directory
 *
 * A folder is renamed to this when it is complete, so that an incomplete store is never measured.
 */
import {existsSync, mkdirSync, renameSync, rmSync} from "node:fs";
import {join} from "node:path";
import type {BlockDifference} from "../../storage/block/blockDifference.ts";
import {BlockWriter} from "../../storage/commit/blockWriter.ts";
import {StateTrie} from "../../storage/commit/stateTrie.ts";
import {DEFAULT_SUITE_NAME} from "../../storage/hash/suiteNames.ts";
import {StateStore} from "../../storage/stateStore.ts";
import {BENCH_FOLDER} from "../program/runFile.ts";
import {makeBlock, makeBlock0} from "./benchChain.ts";

/** Incremented when the chain or the format of stores changes. */
const LAYOUT_VERSION = 10;
/** The cache of a worker of `proofd serve`. */
export const CACHE_BYTES = 64 << 20;

export type BenchStore = Readonly<Awaited<ReturnType<typeof openBenchStore>>>;

/** @param accounts - in block 0. @param blocks - after block 0, all finalized: the number of the newest block */
export async function openBenchStore(suite: string, accounts: number, blocks: number) {
  const folder = join(BENCH_FOLDER, `${suite}-${accounts}-${blocks}-v${LAYOUT_VERSION}`);
  if (!existsSync(folder)) {
    const unfinished = `${folder}.unfinished`;
    rmSync(unfinished, {recursive: true, force: true});
    mkdirSync(unfinished, {recursive: true});
    await makeStore(join(unfinished, "db"), suite, accounts, blocks);
    renameSync(unfinished, folder);
  }
  const directory = join(folder, "db");
  const store = await StateStore.open({directory, role: "owner", suite, cacheBytes: CACHE_BYTES});
  // An interrupted commit stage leaves blocks on top.
  await store.rollback(blocks);
  return {store, directory, accounts, blocks};
}

/** Creates the store of `npm run bench` if it is missing. @returns its folder, for copying */
export async function keepBenchStore(accounts: number, blocks: number): Promise<string> {
  const {store, directory} = await openBenchStore(DEFAULT_SUITE_NAME, accounts, blocks);
  await store.close();
  return directory;
}

async function makeStore(directory: string, suite: string, accounts: number, blocks: number): Promise<void> {
  const store = await StateStore.open({
    directory,
    role: "owner",
    createIfMissing: true,
    suite,
    cacheBytes: CACHE_BYTES,
  });
  const writer = await BlockWriter.create(store);
  const trie = openTrie(writer);
  for (let number = 0; number <= blocks; number++) {
    await applyWithTrie(writer, trie, number === 0 ? makeBlock0(accounts) : makeBlock(number, accounts));
    writer.markFinalized(number);
    await writer.flush();
  }
  await store.close();
}

export function openTrie(writer: BlockWriter): StateTrie {
  return new StateTrie(writer.batch, writer.trie);
}

/** @param changes - those of the trie; default: those of the trees */
export async function applyWithTrie(
  writer: BlockWriter,
  trie: StateTrie,
  block: BlockDifference,
  changes = block.accounts,
): Promise<void> {
  const prepared = await writer.prepare(block);
  const root = await trie.apply(changes);
  writer.commit(prepared, {trie: {...root, isExecuted: false}});
}
