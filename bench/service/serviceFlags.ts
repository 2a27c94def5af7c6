/** The flags of `npm run bench:service`. */
import {type ValuesOf, value} from "../../cli/flags/flagTable.ts";
import {countParser} from "../../cli/flags/flagValues.ts";
import {namesParser} from "../program/benchProgram.ts";
import {SERVICE_NAMES} from "../program/scenarios.ts";

export const SERVICE_FLAGS = {
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
};

export type ServiceFlags = ValuesOf<typeof SERVICE_FLAGS>;
