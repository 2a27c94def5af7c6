/** Makes calls: each a POST by `fetch` (httpCaller.ts), or by a function of another library. */
import {within} from "./abortable.ts";

/** One call. */
export interface RpcRequest {
  readonly method: string;
  readonly params: readonly unknown[];
  /** No valid answer has more bytes. */
  readonly maxAnswerBytes: number;
  /** Accepts the result as bytes instead of JSON. */
  readonly takesBytes?: boolean;
}

export interface RpcCaller {
  /** For one call and its whole answer. */
  readonly timeoutMs: number;
  /**
   * @returns the result, parsed and not checked; a Uint8Array if the server sent bytes
   * @throws RpcError, or the error of the other library; the signal's reason
   */
  call(request: RpcRequest, signal?: AbortSignal): Promise<unknown>;
}

/** `request` of EIP-1193, as viem's clients and wallets have it. Called with `{method, params}`. */
export type RequestFunction = (call: never) => Promise<unknown>;

/** Retries, limits and errors are those of the other library. Its calls cannot be aborted. */
export function createRequestCaller(request: RequestFunction, timeoutMs: number): RpcCaller {
  return {
    timeoutMs,
    call: ({method, params}, signal) =>
      within(timeoutMs, "the answer", signal, () => request({method, params} as never)),
  };
}
