/** Flags of `proofd serve` for its limits. */
import {DEFAULT_LIMITS, type Limits, MAX_STORAGE_KEYS} from "../../server/limits.ts";
import {integerParser} from "./flag.ts";
import {type Undescribed, type ValuesOf, value} from "./flagTable.ts";

const GIB = 2 ** 30;

export const LIMIT_FLAGS = {
  maxBodyBytes: limit("bodyBytes", "<bytes>", GIB).says("largest request body"),
  maxBodyBytesTotal: limit("bodyBytesTotal", "<bytes>", 64 * GIB).says(
    "all request bodies that are being received, and memory of all requests that wait for finality",
  ),
  maxBatch: limit("batchCalls", "<calls>", 1_000_000).says("most calls of one batch"),
  maxStorageKeys: limit("storageKeys", "<keys>", MAX_STORAGE_KEYS).says(
    "most storage keys of one call for a single proof",
  ),
  maxCost: limit("requestCost", "<cost>", 100_000_000).says(
    "highest cost of one HTTP request: an account or slot costs 1, an estimate 20, an overridden slot 2",
  ),
  maxResponseBytes: limit("responseBytes", "<bytes>", 64 * GIB).says(
    "largest response; an upper bound of its size is checked before any work",
  ),
  maxQueue: limit("queueCost", "<cost>", 1_000_000_000).says(
    "highest cost of a client's unfinished requests, for proofs, estimates and long estimates each; more get HTTP 503",
  ),
  maxHeldBytes: limit("unsentBytesTotal", "<bytes>", 64 * GIB).says(
    "finished answers that may wait for slow readers",
  ),
  requestTimeout: limit("timeoutMs", "<ms>", 86_400_000).says(
    "time of one request; calls that are unfinished by then get an error",
  ),
  maxWaiting: limit("waitingCalls", "<calls>", 1_000_000).says(
    "most calls of a client that wait for a block to be finalized; more get HTTP 503",
  ),
};

export function readLimits(values: ValuesOf<typeof LIMIT_FLAGS>): Limits {
  return {
    ...DEFAULT_LIMITS,
    bodyBytes: values.maxBodyBytes,
    bodyBytesTotal: values.maxBodyBytesTotal,
    batchCalls: values.maxBatch,
    storageKeys: values.maxStorageKeys,
    requestCost: values.maxCost,
    responseBytes: values.maxResponseBytes,
    queueCost: values.maxQueue,
    unsentBytesTotal: values.maxHeldBytes,
    timeoutMs: values.requestTimeout,
    waitingCalls: values.maxWaiting,
  };
}

function limit(name: keyof Limits, unit: string, high: number): Undescribed<number> {
  return value(unit, integerParser(1, high), DEFAULT_LIMITS[name]);
}
