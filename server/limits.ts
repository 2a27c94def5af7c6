/** The limits of one request and of all requests together. The same numbers: docs/json-rpc.md, "Limits". */

export interface Limits {
  readonly bodyBytes: number;
  /** Bytes of all bodies that are being received at one moment. */
  readonly bodyBytesTotal: number;
  readonly batchCalls: number;
  /** Array elements plus object fields of a body. Also of characters in numbers that are not plain integers. */
  readonly members: number;
  /** Object fields plus objects of a body. A new key or shape of object takes several times as long as an element. */
  readonly fields: number;
  /** Storage keys of one call for a proof. More could hold a proof thread for more than 30 ms. */
  readonly storageKeys: number;
  /** Cost of one HTTP request: 1 for an account, 1 for each slot, 20 for an estimate. */
  readonly requestCost: number;
  readonly responseBytes: number;
  /** Cost of a client's unfinished requests that do not wait for their own reader, for each lane separately. */
  readonly queueCost: number;
  /** Bytes of finished answers that wait for slow readers, for all requests together. */
  readonly unsentBytesTotal: number;
  /** Time until a request's unfinished calls are given up. Time spent waiting for its own reader does not count. */
  readonly timeoutMs: number;
}

const MIB = 2 ** 20;

export const DEFAULT_LIMITS: Limits = {
  bodyBytes: 5 * MIB,
  bodyBytesTotal: 256 * MIB,
  batchCalls: 1000,
  // The largest batch within `requestCost` has 27 000: 1000 calls of 4 fields, 3 params and 19 keys.
  members: 40_000,
  // Enough for 1000 calls of 4 fields with 12 fields in each call object: 18 each, since both objects count too.
  fields: 18_000,
  storageKeys: 1024,
  requestCost: 20_000,
  responseBytes: 256 * MIB,
  queueCost: 10_000,
  unsentBytesTotal: 512 * MIB,
  timeoutMs: 30_000,
};

/** So long may a cache keep a proof of a finalized block. Later it asks by the ETag, which makes no proof. */
export const PROOF_AGE_SECONDS = 3600;

/** Cost of one estimate. An account or slot costs 1 (docs/json-rpc.md, "Limits"). */
export const ESTIMATE_COST = 20;

/** Cost of a forwarded call, and of one whose answer may be long. */
export const FORWARD_COST = 20;
export const LONG_FORWARD_COST = 100;

/** Bounds the answer to a forwarded call, of 2 or 10 MB at most. */
export const FORWARDED_BYTES_PER_COST = 100_000;

/** Bounds the parameters of a forwarded call, as JSON. */
export const MAX_FORWARDED_CHARACTERS = 512 * 1024;
/** Waiting parameters are in memory: in all queues together, at most 164 million characters. */
export const FORWARDED_CHARACTERS_PER_COST = 4096;

/** Bounds an estimate's result or error. Revert data has at most 32 KiB. */
export const MAX_ESTIMATE_TEXT_BYTES = 72 * 1024;

/** Bounds the result or error of a call that is run once, or of a forwarded one. It returns at most 128 KiB. */
export const MAX_CALL_TEXT_BYTES = 257 * 1024;

/** Bounds the result of a call with its witness: that of the call, in hex 2 MiB of nodes and codes, and 257 headers. */
export const MAX_WITNESS_TEXT_BYTES = 6 * MIB;
/**
 * Cost of a call with a witness: that of 24 calls, whose results may be as long. It does not depend on gas: 190 000 gas can
 * read 2 MiB of code, and most calls name no gas.
 */
export const WITNESS_COST = 24 * ESTIMATE_COST;
