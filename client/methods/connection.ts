/** How a server is reached: the caller's options, checked. */
import {createHttpCaller} from "../rpc/httpCaller.ts";
import {createRequestCaller, type RequestFunction, type RpcCaller} from "../rpc/rpcCaller.ts";

interface TimedOptions {
  /** For one call and its whole answer, and for all of them that `atLeast` needs. Default: 60 000. */
  readonly timeoutMs?: number | undefined;
}

/** Each call is a POST. */
export interface UrlOptions extends TimedOptions {
  /** http or https, without a user and a password: put these into `headers`. */
  readonly url: string;
  /** Sent with every request, such as an authorization. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Default: the runtime's own. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly request?: undefined;
}

/** Calls are another library's. */
export interface RequestOptions extends TimedOptions {
  /** As EIP-1193 has it, such as that of a viem client: called with `{method, params}`. */
  readonly request: RequestFunction;
  readonly url?: undefined;
}

export type ConnectionOptions = UrlOptions | RequestOptions;

/** A day. Timers take 24 times that, and start at once if it is more. */
export const MAX_MS = 86_400_000;

/** @throws TypeError */
export function createCaller({timeoutMs = 60_000, ...options}: ConnectionOptions): RpcCaller {
  requireWhole("timeoutMs", timeoutMs, 1, MAX_MS);
  if (options.request !== undefined) return createRequestCaller(options.request, timeoutMs);
  const {protocol, username, password} = new URL(options.url);
  if (!/^https?:$/.test(protocol)) throw new TypeError(`expected a url of http or https, got ${protocol}`);
  if (username !== "" || password !== "")
    throw new TypeError(
      "expected a url without user and password, got one with: send an authorization in headers",
    );
  const {url, headers = {}} = options;
  // A method that is called without its object is refused by browsers.
  const fetch = options.fetch ?? ((resource, init) => globalThis.fetch(resource, init));
  return createHttpCaller({url, headers, fetch}, timeoutMs);
}

/** @throws TypeError */
export function requireWhole(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new TypeError(`${name}: expected a whole number from ${min} to ${max}, got ${value}`);
}
