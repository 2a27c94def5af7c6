/** The error of a call: the one that the server answers, or the reason why there is no valid answer. */
import {oneLine} from "../bytes/values.ts";

/** Why there is no valid answer, if the server does not answer with an error. */
export type RpcErrorName =
  /** No connection, or one that broke before the answer was complete. */
  | "UNREACHABLE"
  /** No complete answer within the time. */
  | "TIMEOUT"
  /** An HTTP status other than 200 without a JSON-RPC error: see `status`. */
  | "HTTP_STATUS"
  /** The answer has more bytes than an answer to this call can have. */
  | "ANSWER_TOO_LONG"
  /** The answer is not JSON-RPC 2.0, belongs to another call, or has values of a wrong type. */
  | "BAD_ANSWER"
  /** No root is known for the block, so nothing can be verified. */
  | "ROOT_UNKNOWN"
  /** The server's newest block is older than `atLeast`, for as long as a call may take. */
  | "BLOCK_TOO_OLD";

/** A longer message of a server is cut. */
const MAX_MESSAGE = 500;

export interface AnswerDetails {
  readonly status?: number;
  readonly retryAfterMs?: number | undefined;
}

/** Match `code`; the message may change. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  /** `data` of the server's error, such as the revert bytes of code 3. Its type is not checked. */
  readonly data: unknown;
  /** Of the HTTP answer; undefined if none came. */
  readonly status: number | undefined;
  /** Of the header Retry-After; undefined without it. */
  readonly retryAfterMs: number | undefined;

  constructor(
    /** A number is the server's JSON-RPC code: -32001, 3 and so on. */
    readonly code: number | RpcErrorName,
    message: string,
    {data, status, retryAfterMs, cause}: AnswerDetails & {data?: unknown; cause?: unknown} = {},
  ) {
    super(oneLine(message, MAX_MESSAGE), cause === undefined ? {} : {cause});
    this.data = data;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}
