/** Flags of `proofd serve` for its limits. */
import {DEFAULT_LIMITS, type Limits} from "../../server/limits.ts";
import {integerParser} from "./flag.ts";
import {type Undescribed, type ValuesOf, value} from "./flagTable.ts";

export const LIMIT_FLAGS = {
  maxQueue: limit("queueCost", "<cost>", 1_000_000_000).says(
    "highest cost of a client's unfinished requests, for proofs, estimates and long estimates each; more get HTTP 503",
  ),
  requestTimeout: limit("timeoutMs", "<ms>", 86_400_000).says(
    "time of one request; calls that are unfinished by then get an error",
  ),
};

export function readLimits(values: ValuesOf<typeof LIMIT_FLAGS>): Limits {
  return {
    ...DEFAULT_LIMITS,
    queueCost: values.maxQueue,
    timeoutMs: values.requestTimeout,
  };
}

function limit(name: keyof Limits, unit: string, high: number): Undescribed<number> {
  return value(unit, integerParser(1, high), DEFAULT_LIMITS[name]);
}
