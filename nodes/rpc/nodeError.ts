/** What a JSON-RPC error of a node means for its caller: wait and try again, or give up. */

import {cleanText} from "../../client/rpc/secrets.ts";
import type {HttpAnswer} from "./endpoint.ts";
import {NodeFailure, NodeRefusal} from "./node.ts";
import type {ErrorAnswer} from "./nodeAnswer.ts";

/**
 * "Limit exceeded" (EIP-1474). Most providers mean calls per second. Some mean that the result would be too long, and
 * then another try gives the same.
 */
const LIMIT_EXCEEDED = -32005;
const TOO_MUCH_ASKED = /\b(results?|logs|ranges?|blocks|response|too large)\b/i;
/** Too many requests, and the statuses of gateways without a node behind them. They mean the same as LIMIT_EXCEEDED. */
const LATER_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/**
 * An overloaded node: "resource unavailable" (EIP-1474) or a time-out (geth). Also the rate limits of large providers.
 */
const LATER_CODES: ReadonlySet<number> = new Set([-32002, -32016, -32029, -32090, -32097, 429]);
/** A rate limit under another code. */
const LATER_MESSAGE = /too many requests|rate limit|compute units per second/i;

/** "Internal error" (JSON-RPC 2.0). Mostly it passes: a backend is restarted, or a call took too long. */
const INTERNAL_ERROR = -32603;

/** Longest text of a node in a message. */
const MAX_TEXT = 300;

/** The node had an internal error. The same call may succeed at once. */
export class InternalError extends NodeFailure {}

/**
 * @param nodeName - for the message
 * @param redact - removes keys from a text that the node wrote
 * @param http - how the error came, if it came by HTTP
 */
export function toNodeError(
  error: ErrorAnswer,
  method: string,
  nodeName: string,
  redact: (text: string) => string,
  http: Partial<HttpAnswer> = {},
): NodeFailure | NodeRefusal {
  const {code} = error;
  const text = cleanText(error.message, redact, MAX_TEXT);
  if (isForLater(error, http.status))
    return new NodeFailure(`it asks to try ${method} later: ${text} (${code})`, http);
  if (code === INTERNAL_ERROR) return new InternalError(`it fails at ${method}: ${text} (${code})`);
  return new NodeRefusal(`${nodeName} refuses ${method}: ${text} (${code})`, code);
}

function isForLater({code, message}: ErrorAnswer, status = 200): boolean {
  if (LATER_CODES.has(code) || LATER_MESSAGE.test(message)) return true;
  return (code === LIMIT_EXCEEDED || LATER_STATUSES.has(status)) && !TOO_MUCH_ASKED.test(message);
}
