/** `npm run bench:service`. What it measures with is loaded when its flags are right. */
import {countOption, createProgram, namesOption, runProgram, writeCommand} from "../program/benchProgram.ts";
import type {Measure, ServiceFlags} from "./serviceRun.ts";

/** In the order in which they run. */
const SCENARIOS: Readonly<Record<string, () => Promise<Measure>>> = {
  memory: async () => (await import("./single.ts")).measureMemory,
  tail: async () => (await import("./single.ts")).measureTail,
  loops: async () => (await import("./neighbours.ts")).measureLoops,
  import: async () => (await import("./neighbours.ts")).measureImport,
  pull: async () => (await import("./neighbours.ts")).measurePull,
  feed: async () => (await import("./feed.ts")).measureFeed,
};

const program = createProgram(
  "npm run bench:service --",
  "Measures memory, and what one client's load does to the others; prints a table, writes JSON.",
  [
    countOption(
      "--accounts <count>",
      "accounts of the bench store, such as 100k or 1M",
      1000,
      10_000_000,
    ).default(1_000_000, "1M"),
    countOption("--duration <seconds>", "measured time of each load", 1, 600).default(5),
    countOption(
      "--rate <requests/s>",
      "pace of the single proofs whose latency is watched",
      1,
      100_000,
    ).default(300),
    namesOption("--only <names>", "only these scenarios", Object.keys(SCENARIOS)),
  ],
);
await runProgram<ServiceFlags>(program, async flags => {
  const {measureService} = await import("./serviceRun.ts");
  const chosen = Object.entries(SCENARIOS).filter(([name]) => flags.only.includes(name));
  await measureService(flags, new Map(chosen), writeCommand(program));
});
