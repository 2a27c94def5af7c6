/** What makes calls: the client's own HTTP, or another library's. */

import type {RetrySettings} from "./retryWaits.ts";

/** One call. */
export interface RpcRequest {
  readonly method: string;
  readonly params: readonly unknown[];
  /** No right answer has more bytes. */
  readonly maxAnswerBytes: number;
  /** The result may come as bytes instead of JSON, if the server can. Such a call is sent alone. */
  readonly takesBytes?: boolean;
  /** How long the server may wait before it begins to answer. Such a call is sent alone. */
  readonly waitMs?: number;
}

export interface RpcCaller {
  /** For what is asked again because the answer is of too old a block. undefined: the defaults. */
  readonly retry?: RetrySettings;
  /** A call that takes longer may be given up, so none is asked to wait longer. undefined: it allows for `waitMs`. */
  readonly longestWaitMs?: number;
  /**
   * @returns the result, parsed and not checked; a Uint8Array if the server sent bytes
   * @throws RpcError, or the error of the other library; the signal's reason
   */
  call(request: RpcRequest, signal?: AbortSignal): Promise<unknown>;
}
