/** `npm run bench:gas`. What it measures with is loaded when its flags are right. */
import {SUITE_NAMES} from "../../storage/hash/suiteNames.ts";
import {countOption, createProgram, namesOption, runProgram} from "../program/benchProgram.ts";
import type {GasFlags} from "./gasRun.ts";

const program = createProgram(
  "npm run bench:gas --",
  "Measures the gas of the verifiers in contracts/, on anvil.",
  [
    countOption("--accounts <count>", "accounts of the chain", 10, 1_000_000_000).default(1_000_000, "1M"),
    countOption("--slots <count>", "slots of the contract", 20, 1_000_000_000).default(1000, "1k"),
    namesOption("--suite <names>", "hash suites", SUITE_NAMES),
  ],
);
await runProgram<GasFlags>(program, async flags => {
  const {measureGas} = await import("./gasRun.ts");
  await measureGas(flags);
});
