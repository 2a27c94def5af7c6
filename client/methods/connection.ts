/** The options of a connection to a server, checked. */
import {within} from "../rpc/abortable.ts";
import {post, type RpcRequest} from "../rpc/httpCaller.ts";

export interface RpcCaller {
  /** For one call and its whole answer. */
  readonly timeoutMs: number;
  /**
   * @returns the result, parsed and not checked; a Uint8Array if the server sent bytes
   * @throws RpcError, or the error of the other library; the signal's reason
   */
  call(request: RpcRequest, signal?: AbortSignal): Promise<unknown>;
}

/** `request` of EIP-1193, as viem's clients and wallets have it. Its calls cannot be aborted. */
export type RequestFunction = (call: never) => Promise<unknown>;

interface TimedOptions {
  /** Timeout of a call including its complete answer, or of all calls for `atLeast`. Default: 60 000. */
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

/** Another library makes the calls. */
export interface RequestOptions extends TimedOptions {
  /** `request` of EIP-1193, such as that of a viem client. Called with `{method, params}`. */
  readonly request: RequestFunction;
  readonly url?: undefined;
}

export type ConnectionOptions = UrlOptions | RequestOptions;

/** A day. Timers overflow after 24 days, and then fire at once. */
export const MAX_MS = 86_400_000;

export function createCaller({timeoutMs = 60_000, ...options}: ConnectionOptions): RpcCaller {
  requireWhole("timeoutMs", timeoutMs, 1, MAX_MS);
  const {request: ask} = options;
  const send: Send =
    ask === undefined ? createPost(options) : ({method, params}) => ask({method, params} as never);
  return {
    timeoutMs,
    call: (request, signal) => within(timeoutMs, "the answer", signal, ended => send(request, ended)),
  };
}

type Send = (request: RpcRequest, signal: AbortSignal) => Promise<unknown>;

function createPost(options: UrlOptions): Send {
  const {protocol, username, password} = new URL(options.url);
  if (!/^https?:$/.test(protocol)) throw new TypeError(`expected a url of http or https, got ${protocol}`);
  if (username !== "" || password !== "")
    throw new TypeError(
      "expected a url without user and password, got one with: send an authorization in headers",
    );
  const {url, headers = {}} = options;
  // Browsers refuse `fetch` if it is called without its object.
  const fetch = options.fetch ?? ((resource, init) => globalThis.fetch(resource, init));
  return (request, signal) => post({url, headers, fetch}, request, signal);
}

export function requireWhole(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new TypeError(`${name}: expected a whole number from ${min} to ${max}, got ${value}`);
}
