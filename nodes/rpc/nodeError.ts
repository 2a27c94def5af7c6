/** Classifies JSON-RPC errors of nodes: retry later, or give up. */

import {cleanText} from "../../client/rpc/secrets.ts";
import type {HttpAnswer} from "./endpoint.ts";
import {NodeFailure, NodeRefusal} from "./node.ts";
import type {ErrorAnswer} from "./response.ts";

/** "Limit exceeded" (EIP-1474): mostly calls per second, sometimes a result's length, which a retry does not change. */
const LIMIT_EXCEEDED = -32005;
const TOO_MUCH_ASKED = /\b(results?|logs|ranges?|blocks|response|too large)\b/i;
/** Too many requests, and statuses of gateways without a backend. They mean the same as LIMIT_EXCEEDED. */
const LATER_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** "Resource unavailable" (EIP-1474), a timeout (geth), or rate limits of large providers. */
const LATER_CODES: ReadonlySet<number> = new Set([-32002, -32016, -32029, -32090, -32097, 429]);
/** A rate limit under another code. */
const LATER_MESSAGE = /too many requests|rate limit|compute units per second/i;

/** "Internal error" (JSON-RPC 2.0). Mostly transient: a backend restarts, or a call took too long. */
const INTERNAL_ERROR = -32603;

/** Longest text from a node in a message. */
const MAX_TEXT = 300;

/** An internal error of the node. The same call may succeed at once. */
export class InternalError extends NodeFailure {}

/** @param redact - removes secrets from text of the node. @param http - the response with the error, if there is one */
export function toNodeError(
  error: ErrorAnswer,
  method: string,
  nodeName: string,
  redact: (text: string) => string,
  http: Partial<HttpAnswer> = {},
): NodeFailure | NodeRefusal {
  const {code} = error;
  const text = cleanText(error.message, redact, MAX_TEXT);
  if (asksToRetryLater(error, http.status))
    return new NodeFailure(`it asks to try ${method} later: ${text} (${code})`, http);
  // Some providers refuse a large range of logs with this code.
  const isRange = method === "eth_getLogs" && TOO_MUCH_ASKED.test(error.message);
  if (code === INTERNAL_ERROR && !isRange)
    return new InternalError(`it fails at ${method}: ${text} (${code})`);
  return new NodeRefusal(`${nodeName} refuses ${method}: ${text} (${code})`, code);
}

function asksToRetryLater({code, message}: ErrorAnswer, status = 200): boolean {
  if (LATER_CODES.has(code) || LATER_MESSAGE.test(message)) return true;
  return (code === LIMIT_EXCEEDED || LATER_STATUSES.has(status)) && !TOO_MUCH_ASKED.test(message);
}
