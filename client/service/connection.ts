/** How a server is reached: the caller's options, checked. */
import type {HttpCallerSettings} from "../rpc/httpCaller.ts";
import {DEFAULT_RETRY, type RetrySettings} from "../rpc/retryWaits.ts";

export interface ConnectionOptions {
  /** http or https, without a user and a password: put these into `headers`. */
  readonly url: string;
  /** Sent with every request, such as an authorization. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the runtime's own. */
  readonly fetch?: typeof globalThis.fetch;
  /** For one request, from its sending to the end of its answer. Default: 60 000. */
  readonly timeoutMs?: number;
  /** After HTTP status 429, 502, 503 and 504, and broken connections. */
  readonly retry?: Partial<RetrySettings>;
  /** Requests at a time; waiting ones are counted apart. Default: 6, as many as browsers send to one server. */
  readonly concurrency?: number;
  /** Calls of one batch. 1: no batches. Default: 100. */
  readonly maxBatchCalls?: number;
  /** A batch is closed when the answers to its calls could be longer than this together. Default: 64 MiB. */
  readonly maxBatchAnswerBytes?: number;
}

/** A day. Timers take 24 times that, and start at once if it is more. */
export const MAX_MS = 86_400_000;

/** @throws TypeError */
export function readConnection(options: ConnectionOptions): HttpCallerSettings {
  const {url, headers = {}, timeoutMs = 60_000, concurrency = 6, maxBatchCalls = 100} = options;
  const {maxBatchAnswerBytes = 1 << 26, retry = {}} = options;
  const {protocol, username, password} = new URL(url);
  if (!/^https?:$/.test(protocol)) throw new TypeError(`expected a url of http or https, got ${protocol}`);
  if (username !== "" || password !== "")
    throw new TypeError(
      "expected a url without user and password, got one with: send an authorization in headers",
    );
  const {times, firstMs, longestMs} = {...DEFAULT_RETRY, ...retry};
  return {
    url,
    headers,
    // A method that is called without its object is refused by browsers.
    fetch: options.fetch ?? ((resource, init) => globalThis.fetch(resource, init)),
    timeoutMs: requireWhole("timeoutMs", timeoutMs, 1, MAX_MS),
    concurrency: requireWhole("concurrency", concurrency, 1, 1024),
    maxBatchCalls: requireWhole("maxBatchCalls", maxBatchCalls, 1, 10_000),
    maxBatchAnswerBytes: requireWhole("maxBatchAnswerBytes", maxBatchAnswerBytes, 1, 2 ** 31),
    retry: {
      times: requireWhole("retry.times", times, 0, 100),
      firstMs: requireWhole("retry.firstMs", firstMs, 0, MAX_MS),
      longestMs: requireWhole("retry.longestMs", longestMs, 0, MAX_MS),
    },
  };
}

/** @throws TypeError */
export function requireWhole(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new TypeError(`${name}: expected a whole number from ${min} to ${max}, got ${value}`);
}
