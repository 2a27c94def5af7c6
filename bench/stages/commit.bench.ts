/**
 * Commits series of blocks of 350 leaf writes, each block synced: to the trees, to the trees and Ethereum's state trie,
 * and to the state trie alone. As in an import, a block is applied while LevelDB writes the one before. A series ends
 * when its last block is on disk.
 *
 * The blocks are rolled back afterwards, so that the store stays as it was.
 */

import {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import type {BlockDifference} from "../../storage/block/blockDifference.ts";
import {BlockWriter} from "../../storage/commit/blockWriter.ts";
import type {StateTrie} from "../../storage/commit/stateTrie.ts";
import {LEAF_WRITES_PER_BLOCK, makeBlock, TRIE_CHANGES} from "./benchChain.ts";
import {applyWithTrie, type BenchStore, openTrie} from "./benchStore.ts";
import type {Stage} from "./stage.ts";

const BLOCKS_PER_RUN = 8;

export function createCommitStage(bench: BenchStore): Stage {
  const kinds = [
    measureCommits(bench, "", (writer, _, block) => writer.apply(block)),
    measureCommits(bench, ", with its state trie", applyWithTrie),
    measureCommits(
      bench,
      " of the state trie",
      (writer, trie, {header, accounts}) =>
        applyWithTrie(writer, trie, {header, accounts: new AccountDifferences()}, accounts),
      TRIE_CHANGES,
    ),
  ];
  return {
    tasks: kinds.map(({task}) => task),
    figures: () => kinds.map(({figure}) => figure()),
  };
}

function measureCommits(
  {store, accounts, blocks}: BenchStore,
  name: string,
  apply: (writer: BlockWriter, trie: StateTrie, block: BlockDifference) => Promise<void>,
  changes?: number,
) {
  let writer: BlockWriter;
  let trie: StateTrie;
  let series: BlockDifference[];
  let committed = 0;
  let bytesWritten = 0;
  const run = async (): Promise<void> => {
    let written = Promise.resolve();
    for (const block of series) {
      await apply(writer, trie, block);
      await written;
      written = writer.flush();
    }
    await written;
  };
  const hooks = {
    beforeAll: async () => {
      writer = await BlockWriter.create(store);
      trie = openTrie(writer);
    },
    beforeEach: () => {
      const first = (writer.latest ?? 0) + 1;
      series = Array.from({length: BLOCKS_PER_RUN}, (_, i) => makeBlock(first + i, accounts, changes));
    },
    afterAll: async () => {
      committed += (writer.latest ?? 0) - blocks;
      bytesWritten += writer.batch.bytesWritten;
      await store.rollback(blocks);
    },
  };
  return {
    task: {
      name: `commit a block of ${LEAF_WRITES_PER_BLOCK} leaf writes${name}, in a series`,
      ...{units: BLOCKS_PER_RUN, run, hooks},
    },
    figure: () => ({
      name: `written per leaf write${name}, keys and values`,
      value: bytesWritten / (committed * LEAF_WRITES_PER_BLOCK),
      unit: "bytes",
    }),
  };
}
