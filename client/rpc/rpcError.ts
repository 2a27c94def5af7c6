/** The one error of calls: the server's, or what kept its answer from coming. */

import {oneLine} from "../bytes/values.ts";

/** Why there is no answer, where the server did not say. */
export type RpcErrorName =
  /** No connection, or one that broke before the answer was complete. */
  | "UNREACHABLE"
  /** No complete answer within the time. */
  | "TIMEOUT"
  /** An HTTP status other than 200 without a JSON-RPC error: see `status`. */
  | "HTTP_STATUS"
  /** The answer has more bytes than an answer to this call can have. */
  | "ANSWER_TOO_LONG"
  /** The answer is not JSON-RPC 2.0, belongs to other calls, or has values of another kind than it must. */
  | "BAD_ANSWER"
  /** No root is known for the block, so nothing can be verified. */
  | "ROOT_UNKNOWN"
  /** The server's newest block is older than `atLeast`, for as long as a call may take. */
  | "BLOCK_TOO_OLD";

/** Most characters of a server's message that are kept. */
const MAX_MESSAGE = 500;

/** What an HTTP answer says besides its body. */
export interface AnswerDetails {
  readonly status?: number;
  readonly retryAfterMs?: number | undefined;
}

interface Details extends AnswerDetails {
  readonly data?: unknown;
  readonly cause?: unknown;
}

/** Match `code`; the message may change. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  /** What the server says besides, such as the revert bytes of code 3. Its shape is not checked. */
  readonly data: unknown;
  /** Of the HTTP answer; undefined if none came. */
  readonly status: number | undefined;
  /** What the HTTP answer asks for in Retry-After, in seconds there; undefined if it does not. */
  readonly retryAfterMs: number | undefined;

  constructor(
    /** A number is the server's JSON-RPC code: -32001, 3 and so on. */
    readonly code: number | RpcErrorName,
    message: string,
    {data, status, retryAfterMs, cause}: Details = {},
  ) {
    super(oneLine(message, MAX_MESSAGE), cause === undefined ? {} : {cause});
    this.data = data;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}
