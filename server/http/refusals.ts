/** Answers to requests that are refused before JSON-RPC is read. Each has a JSON-RPC error whose id is null. */
import {encodeError, RpcCode, RpcError, shorten} from "../rpc/rpcError.ts";
import type {Header} from "./cors.ts";
import {JSON_TYPE, type Reply} from "./reply.ts";

const RETRY_SECONDS = 1;
export const RETRY_AFTER: Header = ["Retry-After", String(RETRY_SECONDS)];

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

export function refuseMetrics(reply: Reply, verb: string): void {
  refuse(
    reply,
    verb,
    "404 Not Found",
    "/metrics is not on this port: --metrics-port gives it one of its own",
  );
}

/** Closes the connection after the answer: where the next request begins is not known. @param fault - "expected X, got Y" */
export function refuseFraming(reply: Reply, fault: string): void {
  const text = encodeError("null", new RpcError(RpcCode.INVALID_REQUEST, fault));
  reply.send("400 Bad Request", [JSON_TYPE], text, true);
}

export function refuseType(reply: Reply): void {
  refuse(reply, "post", "415 Unsupported Media Type", "expected Content-Type: application/json");
}

/** @param encoding - the Content-Encoding header */
export function refuseEncoding(reply: Reply, encoding: string): void {
  const message = `expected a body without Content-Encoding, got ${shorten(encoding)}`;
  refuse(reply, "post", "415 Unsupported Media Type", message, [["Accept-Encoding", "identity"]]);
}

/** @param host - the Host header */
export function refuseHost(reply: Reply, verb: string, host: string): void {
  const message = `expected a Host header with an address, localhost or a name of --allow-host, got ${shorten(host)}`;
  refuse(reply, verb, "421 Misdirected Request", message);
}

export function refuseLarge(reply: Reply, limit: number, got: number): void {
  const text = encodeLimit(`the body may have at most ${limit} bytes`, limit, got);
  reply.send("413 Payload Too Large", [JSON_TYPE], text, false);
}

export function refuseRoom(reply: Reply, limit: number, got: number): void {
  const message = "too many bytes of bodies are being received: try again later";
  reply.sendBusy(encodeLimit(message, limit, got), RETRY_SECONDS);
}

/** Refuses a request because none is taken now. @param isLast - close the connection after the answer */
export function refuseUnready(reply: Reply, reason: string, isLast: boolean): void {
  const text = encodeLimit(`${reason}: try again later`, 0, 1);
  reply.send("503 Service Unavailable", [JSON_TYPE, RETRY_AFTER], text, isLast);
}

function refuse(
  reply: Reply,
  verb: string,
  status: string,
  message: string,
  headers: readonly Header[] = [],
): void {
  const text = encodeError("null", new RpcError(RpcCode.INVALID_REQUEST, message));
  sendWhole(reply, verb, status, [JSON_TYPE, ...headers], text);
}

export function encodeLimit(message: string, limit: number, got: number): string {
  return encodeError("null", new RpcError(RpcCode.LIMIT_EXCEEDED, message, {limit, got}));
}
