/**
 * From a leaf's index to its path as bytes: every inner page, the siblings' pages, the leaf page.
 *
 * Input: leaves of block 0 far apart, at the head and at old blocks.
 */
import {LeafPath} from "../../storage/tree/leafPath.ts";
import {accountTree} from "../../storage/tree/tree.ts";
import type {BenchStore} from "./benchStore.ts";
import {type BenchTask, INPUTS, type Stage, spread} from "./stage.ts";

const PATHS_PER_RUN = 16;

export function createPathStage({store: {reader}, accounts, blocks}: BenchStore): Stage {
  const path = new LeafPath(reader.suite, reader.empty);
  const trees = Array.from({length: blocks + 1}, (_, block) =>
    accountTree(reader, reader.blockOrThrow(block).accounts),
  );
  const leafIndexes = Array.from({length: INPUTS}, (_, i) => spread(i, accounts));
  let round = 0;
  const open = (name: string, block: () => number): BenchTask => ({
    name,
    units: PATHS_PER_RUN,
    run: () => {
      for (let i = 0; i < PATHS_PER_RUN; i++)
        (trees[block()] as (typeof trees)[0]).openPathAt(path, leafIndexes[round++ % INPUTS] as number);
    },
  });
  return {
    tasks: [
      open("path of a leaf, head", () => blocks),
      open("path of a leaf, old blocks", () => spread(round, blocks + 1)),
    ],
  };
}
