/**
 * Paths of random accounts in Ethereum's state trie, with the nodes that prove them, at the head and at old blocks.
 * Before it is measured, a task goes through as many paths as in proof.bench.ts.
 */
import {keccak256} from "../../storage/hash/keccak.ts";
import {TrieReader} from "../../storage/trie/trie.ts";
import {MAX_PATH_BYTES, TriePath} from "../../storage/trie/triePath.ts";
import {addressAt} from "./benchChain.ts";
import type {BenchStore} from "./benchStore.ts";
import {type BenchTask, type Stage, type StageFigure, spread} from "./stage.ts";

const PATHS_PER_RUN = 8;
const MOST_ASKED = 1 << 16;

export function createTrieStage({store: {reader}, accounts, blocks}: BenchStore): Stage {
  const path = new TriePath(new TrieReader(reader.pages), new Uint8Array(MAX_PATH_BYTES));
  const asked = Math.min(MOST_ASKED, accounts);
  const keys = Array.from({length: asked}, (_, i) => keccak256(addressAt(spread(i, accounts))));
  const roots = Array.from({length: blocks + 1}, (_, block) => reader.blockOrThrow(block).trie?.page ?? 0);
  let round = 0;
  const figures: StageFigure[] = [];
  const task = (when: string, blockOf: (i: number) => number): BenchTask => {
    const open = (): void => {
      path.open(roots[blockOf(round)] as number, keys[round++ % asked] as Uint8Array, "accounts");
    };
    const run = (): void => {
      for (let i = 0; i < PATHS_PER_RUN; i++) open();
    };
    const name = `path of an account, ${when}`;
    const beforeAll = (): void => {
      if (figures.some(figure => figure.name.includes(name))) return;
      for (let i = 0; i < asked; i++) open();
      reader.pages.takeReads();
      for (let i = 0; i < asked; i++) open();
      const value = reader.pages.takeReads().storedPages / asked;
      figures.push({name: `pages read of a ${name}`, value, unit: "pages"});
    };
    return {name, units: PATHS_PER_RUN, run, hooks: {beforeAll}};
  };
  return {
    tasks: [task("head", () => blocks), task("old blocks", i => spread(i, blocks + 1))],
    figures: () => figures,
  };
}
