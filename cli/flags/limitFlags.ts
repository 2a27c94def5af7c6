/** Flags of `proofd serve` for its limits. */
import type {Option} from "commander";
import {DEFAULT_LIMITS, type Limits, MAX_STORAGE_KEYS} from "../../server/limits.ts";
import {createOption, integerParser} from "./flag.ts";

interface LimitFlag {
  readonly limit: keyof Limits;
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly high: number;
}

const GIB = 2 ** 30;

const FLAGS: readonly LimitFlag[] = [
  {limit: "bodyBytes", name: "max-body-bytes", unit: "bytes", description: "largest request body", high: GIB},
  {
    limit: "bodyBytesTotal",
    name: "max-body-bytes-total",
    unit: "bytes",
    description:
      "all request bodies that are being received, and memory of all requests that wait for finality",
    high: 64 * GIB,
  },
  {
    limit: "batchCalls",
    name: "max-batch",
    unit: "calls",
    description: "most calls of one batch",
    high: 1_000_000,
  },
  {
    limit: "storageKeys",
    name: "max-storage-keys",
    unit: "keys",
    description: "most storage keys of one call for a single proof",
    high: MAX_STORAGE_KEYS,
  },
  {
    limit: "requestCost",
    name: "max-cost",
    unit: "cost",
    description:
      "highest cost of one HTTP request: an account or slot costs 1, an estimate 20, an overridden slot 2",
    high: 100_000_000,
  },
  {
    limit: "responseBytes",
    name: "max-response-bytes",
    unit: "bytes",
    description: "largest response; an upper bound of its size is checked before any work",
    high: 64 * GIB,
  },
  {
    limit: "queueCost",
    name: "max-queue",
    unit: "cost",
    description:
      "highest cost of a client's unfinished requests, for proofs, estimates and long estimates each; more get HTTP 503",
    high: 1_000_000_000,
  },
  {
    limit: "unsentBytesTotal",
    name: "max-held-bytes",
    unit: "bytes",
    description: "finished answers that may wait for slow readers",
    high: 64 * GIB,
  },
  {
    limit: "timeoutMs",
    name: "request-timeout",
    unit: "ms",
    description: "time of one request; calls that are unfinished by then get an error",
    high: 86_400_000,
  },
  {
    limit: "waitingCalls",
    name: "max-waiting",
    unit: "calls",
    description: "most calls of a client that wait for a block to be finalized; more get HTTP 503",
    high: 1_000_000,
  },
];

export function createLimitOptions(): Option[] {
  return FLAGS.map(({limit, name, unit, description, high}) =>
    createOption(`--${name} <${unit}>`, description)
      .argParser(integerParser(1, high))
      .default(DEFAULT_LIMITS[limit]),
  );
}

/** @param values - the values from commander, by flag name in camel case */
export function readLimits(values: Readonly<Record<string, unknown>>): Limits {
  const limits: {-readonly [limit in keyof Limits]: number} = {...DEFAULT_LIMITS};
  for (const {limit, name} of FLAGS) limits[limit] = values[camelCase(name)] as number;
  return limits;
}

function camelCase(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
