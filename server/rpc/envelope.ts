/** The JSON-RPC 2.0 envelope: parses a body into calls. It knows no method. */
import {isAscii, isUtf8, transcode} from "node:buffer";
import {type BodyShape, MAX_DEPTH, scanBody} from "./bodyScan.ts";
import {HALF_CHARACTER} from "./exactValues.ts";
import {createLimitError, RpcCode, RpcError} from "./rpcError.ts";

/** Most characters of an id. A UUID has 36. Every id is escaped again for its answer, so its length must be limited. */
export const MAX_ID_CHARACTERS = 256;

/** Limits that are checked before a body is parsed. */
interface BodyLimits {
  readonly batchCalls: number;
  readonly members: number;
  readonly fields: number;
}

/** One element of a body. If it is not a valid request, `error` is its answer. Otherwise `error` is undefined. */
export interface Call {
  /** The id as JSON text, "null" if it is refused. undefined for a notification, which is never answered. */
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
    throw new RpcError(
      RpcCode.PARSE_ERROR,
      `the body: expected at most ${MAX_DEPTH} levels of nesting, got more`,
    );
  requireWithin(shape, limits);
  const parsed = parseJson(body);
  if (!Array.isArray(parsed)) return {isBatch: false, calls: [parseElement(parsed)]};
  if (parsed.length === 0)
    throw new RpcError(RpcCode.INVALID_REQUEST, "the batch: expected at least one request object, got none");
  return {isBatch: true, calls: parsed.map(parseElement)};
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

function parseElement(element: unknown): Call {
  if (typeof element !== "object" || element === null || Array.isArray(element))
    return refuse(undefined, `expected a request object, got ${describe(element)}`);
  const fields = element as Record<string, unknown>;
  let idText: string | undefined;
  if (Object.hasOwn(fields, "id")) {
    const {id} = fields;
    if (typeof id === "string" && id.length > MAX_ID_CHARACTERS) return refuseLongId(id);
    // The ids of a batch could hold enough half characters for 25 ms.
    const isText = typeof id === "string" && !HALF_CHARACTER.test(id);
    if (!isText && id !== null && !Number.isSafeInteger(id)) return refuse(undefined, describeId(id));
    // JSON.stringify takes 0.1 us for a number, and a batch has many.
    idText = isText ? JSON.stringify(id) : String(id);
  }
  const version = Object.hasOwn(fields, "jsonrpc") ? fields.jsonrpc : undefined;
  if (version !== "2.0")
    return refuse(
      idText,
      `expected jsonrpc to be "2.0", got ${typeof version === "string" ? "other text" : describe(version)}`,
    );
  const method = Object.hasOwn(fields, "method") ? fields.method : undefined;
  if (typeof method !== "string")
    return refuse(idText, `expected method to be a string, got ${describe(method)}`);
  // null means the same as no params.
  const params = (Object.hasOwn(fields, "params") ? fields.params : undefined) ?? [];
  if (typeof params !== "object")
    return refuse(idText, `expected params to be an array, got ${describe(params)}`);
  return {idText, method, params: params as Call["params"], error: undefined};
}

/** An invalid request is not a notification either, so it is answered. The id is null if it names none. */
function refuse(idText: string | undefined, reason: string): Call {
  const error = new RpcError(RpcCode.INVALID_REQUEST, `not a JSON-RPC 2.0 request: ${reason}`);
  return {idText: idText ?? "null", method: "", params: [], error};
}

function refuseLongId({length}: string): Call {
  const error = createLimitError("an id", MAX_ID_CHARACTERS, length, "characters");
  return {idText: "null", method: "", params: [], error};
}

function describeId(id: unknown): string {
  if (typeof id === "string") return "expected whole characters in id, got half of a surrogate pair";
  return `expected id to be a string, null or an integer of at most ${Number.MAX_SAFE_INTEGER}, got ${describe(id)}`;
}

/** Text is only named: it may be long. */
function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return "text";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
