/** The limits as flags of `proofd serve`. */
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
    description: "all bodies being received",
    high: 64 * GIB,
  },
  {limit: "batchCalls", name: "max-batch", unit: "calls", description: "longest batch", high: 1_000_000},
  {
    limit: "members",
    name: "max-members",
    unit: "members",
    description: "array elements and object fields of one body",
    high: 100_000_000,
  },
  {
    limit: "fields",
    name: "max-fields",
    unit: "fields",
    description: "object fields of one body",
    high: 100_000_000,
  },
  {
    limit: "storageKeys",
    name: "max-storage-keys",
    unit: "keys",
    description: "storage keys of one call",
    high: MAX_STORAGE_KEYS,
  },
  {
    limit: "requestCost",
    name: "max-cost",
    unit: "cost",
    description: "of one HTTP request: accounts and slots 1, estimates 20, overridden slots 2",
    high: 100_000_000,
  },
  {
    limit: "responseBytes",
    name: "max-response-bytes",
    unit: "bytes",
    description: "largest response, by an upper bound before any work",
    high: 64 * GIB,
  },
  {
    limit: "queueCost",
    name: "max-queue",
    unit: "cost",
    description: "of all requests under way, proofs, estimates and long estimates each; beyond it 503",
    high: 1_000_000_000,
  },
  {
    limit: "heldBytesTotal",
    name: "max-held-bytes",
    unit: "bytes",
    description: "finished answers that wait for slow readers",
    high: 64 * GIB,
  },
  {
    limit: "timeoutMs",
    name: "request-timeout",
    unit: "ms",
    description: "unfinished calls are given up then",
    high: 86_400_000,
  },
];

export function createLimitOptions(): Option[] {
  return FLAGS.map(({limit, name, unit, description, high}) =>
    createOption(`--${name} <${unit}>`, description)
      .argParser(integerParser(1, high))
      .default(DEFAULT_LIMITS[limit]),
  );
}

/** @param values - commander's, by camel-cased flag name */
export function readLimits(values: Readonly<Record<string, unknown>>): Limits {
  const limits: {-readonly [limit in keyof Limits]: number} = {...DEFAULT_LIMITS};
  for (const {limit, name} of FLAGS) limits[limit] = values[camelCase(name)] as number;
  return limits;
}

function camelCase(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
