/**
 * What one request and all requests together may cost. Every limit is a flag of `proofd serve`; the defaults are
 * those of docs/json-rpc.md, "Limits".
 */

import {MAX_PACKED_KEYS} from "../workers/job/packedCall.ts";

export interface Limits {
  /** Bytes of one request's body. */
  readonly bodyBytes: number;
  /** Bytes of all bodies that are being received at one moment. */
  readonly bodyBytesTotal: number;
  readonly batchCalls: number;
  /** Array elements and object fields of a body, all together; also characters of its numbers that are no plain integers. */
  readonly members: number;
  /** Object fields of a body alone: a key that is read for the first time takes several times as long as an element. */
  readonly fields: number;
  /** Storage keys of one call for a proof. At most MAX_STORAGE_KEYS. */
  readonly storageKeys: number;
  /** Cost of one HTTP request: an account 1, each slot 1, an estimate 20. */
  readonly requestCost: number;
  readonly responseBytes: number;
  /** Cost of all admitted and unfinished requests that do not wait for their own reader, in each lane on its own. */
  readonly queueCost: number;
  /** Bytes of finished answers held for slow readers, all requests together. */
  readonly unsentBytesTotal: number;
  /** Time until a request's unfinished calls are given up; waiting for its own reader does not count. */
  readonly timeoutMs: number;
}

const MIB = 2 ** 20;

export const DEFAULT_LIMITS: Limits = {
  bodyBytes: 5 * MIB,
  bodyBytesTotal: 256 * MIB,
  batchCalls: 1000,
  // The largest batch that the cost allows has 27 000: 1000 calls of 4 fields, 3 params and 19 keys.
  members: 40_000,
  // 1000 calls of 4 fields, and 12 in each one's call object.
  fields: 16_000,
  storageKeys: 1024,
  requestCost: 20_000,
  responseBytes: 256 * MIB,
  queueCost: 10_000,
  unsentBytesTotal: 512 * MIB,
  timeoutMs: 30_000,
};

/** Largest value of `storageKeys`. */
export const MAX_STORAGE_KEYS = MAX_PACKED_KEYS;

/** Cost of one estimate, where an account or slot is 1 (json-rpc.md, "Limits"). */
export const ESTIMATE_COST = 20;

/**
 * Upper bound of an estimate's result or error: revert data has at most 32 KiB, which are 64 KiB of hex. A longer answer
 * of a gateway is not passed on.
 */
export const MAX_ESTIMATE_TEXT_BYTES = 72 * 1024;
