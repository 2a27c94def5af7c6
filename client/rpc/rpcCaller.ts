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
}

export interface RpcCaller {
  /** For what is asked again because the answer is of too old a block. undefined: the defaults. */
  readonly retry?: RetrySettings;
  /**
   * @returns the result, parsed and not checked; a Uint8Array if the server sent bytes
   * @throws RpcError, or the error of the other library; the signal's reason
   */
  call(request: RpcRequest, signal?: AbortSignal): Promise<unknown>;
}
