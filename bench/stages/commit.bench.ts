/**
 * Commits blocks on top of the store, each synced: 350 leaf writes in random accounts, 50 of which are new. Of the trees, of the trees
 * and Ethereum's state trie, and of 350 leaf writes of the state trie alone.
 *
 * The blocks are not finalized and are rolled back afterwards, so the kept store does not change.
 */

import type {StateTrie} from "../../evm/trie/stateTrie.ts";
import {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import type {BlockDifference} from "../../storage/block/blockDifference.ts";
import {BlockWriter} from "../../storage/commit/blockWriter.ts";
import {LEAF_WRITES_PER_BLOCK, makeBlock, TRIE_CHANGES} from "./benchChain.ts";
import {applyWithTrie, type BenchStore, openTrie} from "./benchStore.ts";
import type {Stage} from "./stage.ts";

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
  let next: BlockDifference;
  let committed = 0;
  let bytesWritten = 0;
  const run = async (): Promise<void> => {
    await apply(writer, trie, next);
    await writer.flush();
  };
  const hooks = {
    beforeAll: async () => {
      writer = await BlockWriter.create(store);
      trie = openTrie(writer);
    },
    beforeEach: () => {
      next = makeBlock((writer.latest ?? 0) + 1, accounts, changes);
    },
    afterAll: async () => {
      committed += (writer.latest ?? 0) - blocks;
      bytesWritten += writer.bytesWritten;
      await store.rollback(blocks);
    },
  };
  return {
    task: {name: `commit a block of ${LEAF_WRITES_PER_BLOCK} leaf writes${name}`, units: 1, run, hooks},
    figure: () => ({
      name: `written per leaf write${name}, keys and values`,
      value: bytesWritten / (committed * LEAF_WRITES_PER_BLOCK),
      unit: "bytes",
    }),
  };
}
