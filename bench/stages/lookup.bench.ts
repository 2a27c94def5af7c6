/**
 * From a key to its leaf's index, or to its neighbours: reads the hKey index, and for an absent key also one leaf.
 *
 * Input: keys of accounts in block 0 and keys that are in no block, at the head and at old blocks.
 */
import {accountTree} from "../../storage/tree/tree.ts";
import {absentAddressAt, addressAt} from "./benchChain.ts";
import type {BenchStore} from "./benchStore.ts";
import {type BenchTask, INPUTS, type Stage, spread} from "./stage.ts";

const KEYS_PER_RUN = 16;

export function createLookupStage({store, accounts, blocks}: BenchStore): Stage {
  const {reader} = store;
  const trees = Array.from({length: blocks + 1}, (_, block) =>
    accountTree(reader, reader.blockOrThrow(block).accounts),
  );
  const hKeys = (at: (i: number) => Buffer): Uint8Array[] =>
    Array.from({length: INPUTS}, (_, i) => reader.suite.hashAddress(at(spread(i, accounts))));
  const present = hKeys(addressAt);
  const absent = hKeys(absentAddressAt);
  let round = 0;
  const find = (name: string, keys: readonly Uint8Array[], block: () => number): BenchTask => ({
    name,
    units: KEYS_PER_RUN,
    run: () => {
      for (let i = 0; i < KEYS_PER_RUN; i++)
        (trees[block()] as (typeof trees)[0]).find(keys[round++ % INPUTS] as Uint8Array);
    },
  });
  const head = (): number => blocks;
  const oldBlock = (): number => spread(round, blocks + 1);
  return {
    tasks: [
      find("leaf of a key, head", present, head),
      find("leaf of a key, old blocks", present, oldBlock),
      find("neighbours of an absent key, head", absent, head),
      find("neighbours of an absent key, old blocks", absent, oldBlock),
    ],
  };
}
