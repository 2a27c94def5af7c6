/** `npm run bench`. What it measures with is loaded when its flags are right. */
import {Option} from "commander";
import {DEFAULT_SUITE_NAME, SUITE_NAMES} from "../../storage/hash/suiteNames.ts";
import {countOption, createProgram, namesOption, runProgram} from "../program/benchProgram.ts";
import {readRun} from "./benchRun.ts";
import type {CreateStage} from "./stage.ts";
import type {StageFlags} from "./stagesRun.ts";
import {DEFAULT_BLOCKS, HOLDERS} from "./storeSize.ts";

/** In the order in which they run. A stage is loaded when it runs. Loading all of them takes a second. */
const STAGES: Readonly<Record<string, () => Promise<CreateStage>>> = {
  hash: async () => (await import("./hash.bench.ts")).createHashStage,
  proof: async () => (await import("./proof.bench.ts")).createProofStage,
  multiproof: async () => (await import("./proof.bench.ts")).createMultiproofStage,
  trie: async () => (await import("./trie.bench.ts")).createTrieStage,
  leaves: async () => (await import("./leaves.bench.ts")).createLeavesStage,
  changes: async () => (await import("./leaves.bench.ts")).createChangesStage,
  verify: async () => (await import("./verify.bench.ts")).createVerifyStage,
  estimate: async () => (await import("./estimate.bench.ts")).createEstimateStage,
  evm: async () => (await import("./evm.bench.ts")).createEvmStage,
  execute: async () => (await import("./execute.bench.ts")).createExecuteStage,
  commit: async () => (await import("./commit.bench.ts")).createCommitStage,
};
const MAX_ACCOUNTS = 10_000_000;
const MAX_BLOCKS = 100_000;
const MAX_TIME_MS = 600_000;
const MAX_RUNS = 10_000;

const accounts = "accounts in block 0, such as 100k, 1M or 10M; the store is kept under bench-data/";
const runs = "runs of a task at least, if they take longer than --time";
const program = createProgram(
  "npm run bench --",
  "Measures each stage of a proof, an estimate, an execution and a commit; prints a table, writes JSON.",
  [
    countOption("--accounts <count>", accounts, HOLDERS, MAX_ACCOUNTS).default(100_000, "100k"),
    countOption("--blocks <count>", "blocks of history after block 0", 1, MAX_BLOCKS).default(DEFAULT_BLOCKS),
    countOption("--time <ms>", "milliseconds per task", 1, MAX_TIME_MS).default(1000),
    countOption("--runs <count>", runs, 2, MAX_RUNS).default(16),
    namesOption("--only <names>", "only these stages", Object.keys(STAGES)),
    namesOption("--suite <names>", "hash suites of the stores", SUITE_NAMES).default(
      [DEFAULT_SUITE_NAME],
      DEFAULT_SUITE_NAME,
    ),
    new Option("--json <file>", "where the figures go (default: a new file under bench-data/runs/)"),
    new Option("--against <file>", "compare with the figures of an earlier run"),
  ],
);
await runProgram<StageFlags>(program, async flags => {
  // Read before minutes are spent on measuring.
  const before = flags.against === undefined ? undefined : readRun(flags.against, flags);
  const {measureStages} = await import("./stagesRun.ts");
  const chosen = Object.entries(STAGES).filter(([name]) => flags.only.includes(name));
  await measureStages(flags, new Map(chosen), before);
});
