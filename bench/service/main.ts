/** `npm run bench:service`. Loads the measuring code only if the flags are valid. */
import {value} from "../../cli/flags/flagTable.ts";
import {countParser} from "../../cli/flags/flagValues.ts";
import {namesParser, runProgram, writeCommand} from "../program/benchProgram.ts";
import {SERVICE_NAMES} from "../program/scenarios.ts";

await runProgram(
  "npm run bench:service --",
  "Measures memory, and how one client's load affects others; prints a table.",
  {
    accounts: value("<count>", countParser(1000, 10_000_000), 1_000_000, "1M").says(
      "accounts of the bench store, such as 100k or 1M",
    ),
    duration: value("<seconds>", countParser(1, 600), 5).says("measured time of each load"),
    rate: value("<requests/s>", countParser(1, 100_000), 300).says(
      "rate of the single proofs whose latency is measured",
    ),
    only: value("<names>", namesParser(SERVICE_NAMES), SERVICE_NAMES, "all").says(
      `only these scenarios: ${SERVICE_NAMES.join(", ")}`,
    ),
  },
  async (flags, command) => {
    const {measureService} = await import("./serviceRun.ts");
    await measureService(flags, writeCommand(command));
  },
);
