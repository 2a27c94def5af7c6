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
  return {
    tasks: [
      {
        name: `commit a block of ${LEAF_WRITES_PER_BLOCK} leaf writes`,
        units: 1,
        run: async () => {
          await writer.apply(next);
          await writer.flush();
        },
        hooks: {
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
        },
      },
    ],
    figures: ([commit]) => [
      {
        name: "leaf writes committed",
        value: (commit?.perSecond ?? 0) * LEAF_WRITES_PER_BLOCK,
        unit: "per second",
      },
      {
        name: "written per leaf write, keys and values",
        value: bytesWritten / (committed * LEAF_WRITES_PER_BLOCK),
        unit: "bytes",
      },
    ],
  };
}
