/** Answers to requests that are refused before JSON-RPC is read. Each has a JSON-RPC error whose id is null. */
import {encodeError, RpcCode, RpcError} from "../rpc/rpcError.ts";
import type {Header} from "./cors.ts";
import {JSON_TYPE, type Reply} from "./reply.ts";

export const RETRY_AFTER: Header = ["Retry-After", "1"];

/** @param verb - "head" gets only the headers */
export function sendWhole(
  reply: Reply,
  verb: string,
  status: string,
  headers: readonly Header[],
  text: string,
): void {
  if (verb === "head") reply.sendHeaders(status, headers, Buffer.byteLength(text));
  else reply.send(status, headers, text, false);
}

export function refuseVerb(reply: Reply, verb: string, allowed: string): void {
  refuse(reply, verb, "405 Method Not Allowed", `expected ${allowed}`, [["Allow", allowed]]);
}

export function refusePath(reply: Reply, verb: string): void {
  refuse(reply, verb, "404 Not Found", "unknown path: send JSON-RPC requests to POST /");
}

/** Refuses a request because none is taken now. @param isLast - close the connection after the answer */
export function refuseUnready(reply: Reply, reason: string, isLast: boolean): void {
  const text = encodeLimit(`${reason}: try again later`, 0, 1);
  reply.send("503 Service Unavailable", [JSON_TYPE, RETRY_AFTER], text, isLast);
}

export function refuse(
  reply: Reply,
  verb: string,
  status: string,
  message: string,
  headers: readonly Header[] = [],
): void {
  sendWhole(reply, verb, status, [JSON_TYPE, ...headers], encodeInvalid(message));
}

export function encodeInvalid(message: string): string {
  return encodeError("null", new RpcError(RpcCode.INVALID_REQUEST, message));
}

export function encodeLimit(message: string, limit: number, got: number): string {
  return encodeError("null", new RpcError(RpcCode.LIMIT_EXCEEDED, message, {limit, got}));
}
