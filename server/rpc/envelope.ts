/** The JSON-RPC 2.0 envelope: parses a body into calls. It knows no method. */
import {isAscii, isUtf8, transcode} from "node:buffer";
import {type BodyShape, MAX_DEPTH, scanBody} from "./bodyScan.ts";
import {encodeIdText} from "./idEscapes.ts";
import {findIdTexts} from "./idText.ts";
import {createLimitError, RpcCode, RpcError} from "./rpcError.ts";

/** Most characters of an id. A UUID has 36. Every id is escaped again for its answer, so its length must be limited. */
export const MAX_ID_CHARACTERS = 256;

/** Limits that are checked before a body is parsed. */
export interface BodyLimits {
  readonly batchCalls: number;
  readonly members: number;
  readonly fields: number;
}

/** One element of a body. If it is not a valid request, `error` is its answer. Otherwise `error` is undefined. */
export interface Call {
  /** The id as JSON text, "undefined" if the id cannot be read. undefined for a notification, which is never answered. */
  readonly idText: string | undefined;
  readonly method: string;
  /** An empty array if the caller left it out. Methods refuse an object (-32602). */
  readonly params: readonly unknown[] | Readonly<Record<string, unknown>>;
  readonly error: RpcError | undefined;
}

export interface Envelope {
  readonly isBatch: boolean;
  readonly calls: readonly Call[];
}

/**
 * @throws RpcError PARSE_ERROR for a body that is not UTF-8, is not JSON or nests too deep, INVALID_REQUEST for `[]`,
 * LIMIT_EXCEEDED for a batch that is too long or a body with too many members or fields (checked before it is parsed)
 */
export function parseEnvelope(body: Buffer, limits: BodyLimits): Envelope {
  const shape = scanBody(body);
  if (shape.depth > MAX_DEPTH)
    throw new RpcError(RpcCode.PARSE_ERROR, `the body nests more than ${MAX_DEPTH} levels deep`);
  requireWithin(shape, limits);
  const parsed = parseJson(body);
  if (!Array.isArray(parsed))
    return {isBatch: false, calls: [parseElement(parsed, 0, body, shape, undefined)]};
  if (parsed.length === 0)
    throw new RpcError(RpcCode.INVALID_REQUEST, "the batch is empty: expected at least one request object");
  const idTexts = shape.oddCharacters > 0 ? findIdTexts(body) : undefined;
  const calls: Call[] = [];
  for (let at = 0; at < parsed.length; at++) calls.push(parseElement(parsed[at], at, body, shape, idTexts));
  return {isBatch: true, calls};
}

/**
 * Checks a body's shape, because JSON.parse is slow for some bodies. A distinct key or a new shape of object takes up to 1.5 us,
 * and its reader as much again. A new array or string takes 0.5 us. An odd number takes up to 0.15 us a character (a number of 100 digits
 * half-way between two doubles takes 7 us). Plain text takes almost no time.
 */
function requireWithin({elements, members, fields, oddCharacters}: BodyShape, limits: BodyLimits): void {
  if (elements > limits.batchCalls) throw createLimitError("a batch", limits.batchCalls, elements, "calls");
  if (members > limits.members)
    throw createLimitError("a body", limits.members, members, "members (array elements and object fields)");
  if (fields > limits.fields)
    throw createLimitError("a body", limits.fields, fields, "object fields and objects");
  if (oddCharacters > limits.members) {
    const unit = "characters in numbers with a sign, a fraction, an exponent or more than 15 digits";
    throw createLimitError("a body", limits.members, oddCharacters, unit);
  }
}

function parseJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw new RpcError(RpcCode.PARSE_ERROR, "the body is not valid UTF-8");
  // Neither conversion drops a byte order mark, so JSON.parse refuses it.
  const text = isAscii(body) ? body.toString("latin1") : transcode(body, "utf8", "ucs2").toString("ucs2");
  try {
    return JSON.parse(text);
  } catch {
    throw new RpcError(RpcCode.PARSE_ERROR, "the body is not JSON");
  }
}

function parseElement(
  element: unknown,
  at: number,
  body: Buffer,
  shape: BodyShape,
  idTexts: readonly (string | undefined)[] | undefined,
): Call {
  if (typeof element !== "object" || element === null || Array.isArray(element))
    return refuse("null", "expected a request object");
  const fields = element as Record<string, unknown>;
  let idText: string | undefined;
  if (Object.hasOwn(fields, "id")) {
    const id = fields.id;
    if (typeof id === "string") {
      if (id.length > MAX_ID_CHARACTERS) return refuseId(id);
      idText = encodeIdText(id);
    } else if (id === null) idText = "null";
    else if (typeof id !== "number") return refuse("null", "id must be a string, a number or null");
    else if (shape.oddCharacters > 0) {
      idText = (idTexts ?? findIdTexts(body))[at] as string;
      if (idText.length > MAX_ID_CHARACTERS) return refuseId(idText);
    } else idText = String(id);
  }
  if (!Object.hasOwn(fields, "jsonrpc") || fields.jsonrpc !== "2.0")
    return refuse(idText, 'jsonrpc must be "2.0"');
  const method = Object.hasOwn(fields, "method") ? fields.method : undefined;
  if (typeof method !== "string") return refuse(idText, "method must be a string");
  // null means the same as no params.
  const params = (Object.hasOwn(fields, "params") ? fields.params : undefined) ?? [];
  if (typeof params !== "object") return refuse(idText, "params must be an array");
  return {idText, method, params: params as Call["params"], error: undefined};
}

/** An invalid request is not a notification either, so it is answered. The id is null if it names none. */
function refuse(idText: string | undefined, reason: string): Call {
  const error = new RpcError(RpcCode.INVALID_REQUEST, `not a JSON-RPC 2.0 request: ${reason}`);
  return {idText: idText ?? "null", method: "", params: [], error};
}

function refuseId({length}: string): Call {
  const error = createLimitError("an id", MAX_ID_CHARACTERS, length, "characters");
  return {idText: "null", method: "", params: [], error};
}
