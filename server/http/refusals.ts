/** Answers to requests that are refused before JSON-RPC is read. Each has a JSON-RPC error whose id is null. */
import {encodeError, RpcCode, RpcError, shorten} from "../rpc/rpcError.ts";
import type {Header} from "./cors.ts";
import {JSON_TYPE, type Reply} from "./reply.ts";

export const RETRY_SECONDS = 1;
export const RETRY_AFTER: Header = ["Retry-After", String(RETRY_SECONDS)];

/** Data of the error while the service takes no requests. */
const NONE_TAKEN = {limit: 0, got: 1};

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

export function refuse(
  reply: Reply,
  verb: string,
  status: string,
  error: RpcError,
  headers: readonly Header[] = [],
): void {
  sendWhole(reply, verb, status, [JSON_TYPE, ...headers], encodeError("null", error));
}

export function refuseVerb(reply: Reply, verb: string, allowed: string): void {
  const error = new RpcError(RpcCode.INVALID_REQUEST, `expected ${allowed}`);
  refuse(reply, verb, "405 Method Not Allowed", error, [["Allow", allowed]]);
}

export function refusePath(reply: Reply, verb: string): void {
  const message = "unknown path: send JSON-RPC requests to POST /";
  refuse(reply, verb, "404 Not Found", new RpcError(RpcCode.INVALID_REQUEST, message));
}

export function refuseType(reply: Reply): void {
  const error = new RpcError(RpcCode.INVALID_REQUEST, "expected Content-Type: application/json");
  refuse(reply, "post", "415 Unsupported Media Type", error);
}

/** @param encoding - the Content-Encoding header */
export function refuseEncoding(reply: Reply, encoding: string): void {
  const message = `expected a body without Content-Encoding, got ${shorten(encoding)}`;
  const error = new RpcError(RpcCode.INVALID_REQUEST, message);
  refuse(reply, "post", "415 Unsupported Media Type", error, [["Accept-Encoding", "identity"]]);
}

/** @param host - the Host header */
export function refuseHost(reply: Reply, verb: string, host: string): void {
  const message = `expected a Host header with an address, localhost or a name of --allow-host, got ${shorten(host)}`;
  refuse(reply, verb, "421 Misdirected Request", new RpcError(RpcCode.INVALID_REQUEST, message));
}

/** The rest of the body is read and dropped. If the connection were closed now, the answer could be lost. */
export function refuseLarge(reply: Reply, limit: number, got: number): void {
  const message = `the body may have at most ${limit} bytes`;
  const error = new RpcError(RpcCode.LIMIT_EXCEEDED, message, {limit, got});
  refuse(reply, "post", "413 Payload Too Large", error);
}

export function refuseRoom(reply: Reply, limit: number, got: number): void {
  const message = "too many bytes of bodies are being received: try again later";
  const error = new RpcError(RpcCode.LIMIT_EXCEEDED, message, {limit, got});
  reply.sendBusy(encodeError("null", error), RETRY_SECONDS);
}

/** Refuses a request because none is taken now. @param isLast - close the connection after the answer */
export function refuseUnready(reply: Reply, reason: string, isLast: boolean): void {
  const error = new RpcError(RpcCode.LIMIT_EXCEEDED, `${reason}: try again later`, NONE_TAKEN);
  reply.send("503 Service Unavailable", [JSON_TYPE, RETRY_AFTER], encodeError("null", error), isLast);
}
