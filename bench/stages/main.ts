/** `npm run bench`. Loads the measuring code only if the flags are valid. */
import {value} from "../../cli/flags/flagTable.ts";
import {countParser, parseText} from "../../cli/flags/flagValues.ts";
import {readAgainst, requireWritable} from "../../cli/flags/reportFile.ts";
import {DEFAULT_SUITE_NAME, SUITE_NAMES} from "../../storage/hash/suiteNames.ts";
import {namesParser, runProgram} from "../program/benchProgram.ts";
import {parseRun} from "./benchRun.ts";
import type {CreateStage} from "./stage.ts";
import {DEFAULT_BLOCKS, HOLDERS} from "./storeSize.ts";

/** In running order. A stage is loaded when it runs: loading all takes a second. */
const STAGES: Readonly<Record<string, () => Promise<CreateStage>>> = {
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
const STAGE_NAMES = Object.keys(STAGES);

await runProgram(
  "npm run bench --",
  "Measures each stage of a proof, an estimate, an execution and a commit; prints a table, writes JSON.",
  {
    accounts: value("<count>", countParser(HOLDERS, 10_000_000), 100_000, "100k").says(
      "accounts in block 0, such as 100k, 1M or 10M; the store is kept under bench-data/",
    ),
    blocks: value("<count>", countParser(1, 100_000), DEFAULT_BLOCKS).says("blocks of history after block 0"),
    time: value("<ms>", countParser(1, 600_000), 1000).says("milliseconds per task"),
    runs: value("<count>", countParser(2, 10_000), 16).says(
      "minimum runs of a task, even if they take longer than --time",
    ),
    only: value("<names>", namesParser(STAGE_NAMES), STAGE_NAMES, "all").says(
      `only these stages: ${STAGE_NAMES.join(", ")}`,
    ),
    suite: value("<names>", namesParser(SUITE_NAMES), [DEFAULT_SUITE_NAME], DEFAULT_SUITE_NAME).says(
      `hash suites of the stores: ${SUITE_NAMES.join(", ")}`,
    ),
    json: value("<file>", parseText).says(
      "where the figures go (default: a new file under bench-data/runs/)",
    ),
    against: value("<file>", parseText).says("compare with the figures of an earlier run"),
  },
  async (flags, command) => {
    const {json, against, only} = flags;
    if (json !== undefined) requireWritable(json, "json", command);
    const before =
      against === undefined ? undefined : readAgainst(against, command, text => parseRun(text, flags));
    const {measureStages} = await import("./stagesRun.ts");
    const chosen = Object.entries(STAGES).filter(([name]) => only.includes(name));
    await measureStages(flags, new Map(chosen), before);
  },
);
