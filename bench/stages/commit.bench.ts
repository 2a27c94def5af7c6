/**
 * Commits blocks on top of the store, each synced: 350 leaf writes in random accounts and 50 new ones.
 *
 * The blocks are not finalized and are rolled back afterwards, so the kept store does not change.
 */

import type {BlockDifference} from "../../storage/block/blockDifference.ts";
import {BlockWriter} from "../../storage/commit/blockWriter.ts";
import {LEAF_WRITES_PER_BLOCK, makeBlock} from "./benchChain.ts";
import type {BenchStore} from "./benchStore.ts";
import type {Stage} from "./stage.ts";

export function createCommitStage({store, accounts, blocks}: BenchStore): Stage {
  let writer: BlockWriter;
  let next: BlockDifference;
  let committed = 0;
  let bytesWritten = 0;
  const run = async (): Promise<void> => {
    await writer.apply(next);
    await writer.flush();
  };
  const hooks = {
    beforeAll: async () => {
      writer = await BlockWriter.create(store);
    },
    beforeEach: () => {
      next = makeBlock((writer.latest ?? 0) + 1, accounts);
    },
    afterAll: async () => {
      committed += (writer.latest ?? 0) - blocks;
      bytesWritten += writer.bytesWritten;
      await store.rollback(blocks);
    },
  };
  return {
    tasks: [{name: `commit a block of ${LEAF_WRITES_PER_BLOCK} leaf writes`, units: 1, run, hooks}],
    figures: () => {
      const value = bytesWritten / (committed * LEAF_WRITES_PER_BLOCK);
      return [{name: "written per leaf write, keys and values", value, unit: "bytes"}];
    },
  };
}
