/** `npm run bench:service`. What it measures with is loaded when its flags are right. */
import {countOption, createProgram, namesOption, runProgram, writeCommand} from "../program/benchProgram.ts";
import {SERVICE_NAMES} from "../program/scenarios.ts";
import type {ServiceFlags} from "./serviceRun.ts";

const accounts = "accounts of the bench store, such as 100k or 1M";
const rate = "pace of the single proofs whose latency is watched";
const program = createProgram(
  "npm run bench:service --",
  "Measures memory, and what one client's load does to the others; prints a table.",
  [
    countOption("--accounts <count>", accounts, 1000, 10_000_000).default(1_000_000, "1M"),
    countOption("--duration <seconds>", "measured time of each load", 1, 600).default(5),
    countOption("--rate <requests/s>", rate, 1, 100_000).default(300),
    namesOption("--only <names>", "only these scenarios", SERVICE_NAMES),
  ],
);
await runProgram<ServiceFlags>(program, async flags => {
  const {measureService} = await import("./serviceRun.ts");
  await measureService(flags, writeCommand(program));
});
