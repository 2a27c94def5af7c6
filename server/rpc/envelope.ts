/** The JSON-RPC 2.0 envelope: parses a body into calls. It knows no method. */
import {isUtf8} from "node:buffer";
import type {Work} from "../fairness/work.ts";
import {BodyScan, MAX_DEPTH} from "../json/bodyScan.ts";
import {decodeText, parseInSteps} from "../json/stepParser.ts";
import {LONE_SURROGATE} from "./exactValues.ts";
import {FieldNames} from "./fieldNames.ts";
import {createLimitError, RpcCode, RpcError} from "./rpcError.ts";

/** Most characters of an id. A UUID has 36. Every id is escaped again for its answer, so its length must be limited. */
export const MAX_ID_CHARACTERS = 256;

/** JSON.parse takes at most 1 ms for a body of up to this many bytes. */
export const WHOLE_BYTES: number = 8 * 1024;
/** JSON.parse takes at most 1 ms up to SHORT_BYTES within these bounds. A batch of 100 proofs has half of them. */
const WHOLE = {
  members: 2000,
  fields: 600,
  oddCharacters: 4000,
} as const;
/** Scanned in one part. */
const SHORT_BYTES = 32 * 1024;
const PART_BYTES = 128 * 1024;
/** Elements of a batch that are read in one part. */
const PART_ELEMENTS = 64;

/** Limits that are checked before a body is parsed. */
export interface BodyLimits {
  readonly batchCalls: number;
  readonly members: number;
  readonly fields: number;
}

const NAMES = new FieldNames(["jsonrpc", "id", "method", "params"]);

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

/** Parses a body into calls. @throws RpcError INVALID_REQUEST for `[]`, and as parseJson */
export function* parseEnvelope(body: Buffer, limits: BodyLimits): Work<Envelope> {
  const parsed = yield* parseJson(body, limits);
  if (!Array.isArray(parsed)) return {isBatch: false, calls: [parseElement(parsed)]};
  if (parsed.length === 0)
    throw new RpcError(RpcCode.INVALID_REQUEST, "the batch: expected at least one request object, got none");
  const calls: Call[] = [];
  for (const element of parsed) {
    if (calls.length % PART_ELEMENTS === PART_ELEMENTS - 1) yield;
    calls.push(parseElement(element));
  }
  return {isBatch: true, calls};
}

/**
 * A body of at most WHOLE_BYTES is only read before the first yield.
 *
 * @throws RpcError PARSE_ERROR for a body that is not UTF-8, is not JSON or nests too deep, LIMIT_EXCEEDED for a batch
 * that is too long or a body with too many members or fields (checked before it is parsed)
 */
export function parseJson(body: Buffer, limits: BodyLimits): Work<unknown> {
  return body.length <= SHORT_BYTES ? parseShort(body, limits) : parseLong(body, limits);
}

function* parseShort(body: Buffer, limits: BodyLimits): Work<unknown> {
  const scan = new BodyScan(body);
  scan.read(body.length);
  requireWithin(scan, limits);
  requireUtf8(body);
  const {members, fields, oddCharacters} = scan;
  const isLight = members <= WHOLE.members && fields <= WHOLE.fields && oddCharacters <= WHOLE.oddCharacters;
  if (body.length > WHOLE_BYTES && !isLight) return yield* parseLong(body, limits);
  try {
    return JSON.parse(decodeText(body));
  } catch {
    throw createSyntaxError();
  }
}

function* parseLong(body: Buffer, limits: BodyLimits): Work<unknown> {
  const scan = new BodyScan(body);
  while (!scan.read(PART_BYTES)) yield;
  requireWithin(scan, limits);
  requireUtf8(body);
  yield;
  try {
    return yield* parseInSteps(body);
  } catch {
    throw createSyntaxError();
  }
}

function requireUtf8(body: Buffer): void {
  if (!isUtf8(body)) throw new RpcError(RpcCode.PARSE_ERROR, "the body is not valid UTF-8");
}

function createSyntaxError(): RpcError {
  return new RpcError(RpcCode.PARSE_ERROR, "the body is not JSON");
}

/**
 * Checks a body's shape, because JSON.parse is slow for some bodies. A distinct key or a new shape of object takes up
 * to 1.5 us, and its reader as much again. A new array or string takes 0.5 us. An odd number takes up to 0.15 us a
 * character (a number of 100 digits half-way between two doubles takes 7 us). Plain text takes almost no time.
 */
function requireWithin(shape: BodyScan, limits: BodyLimits): void {
  const {depth, elements, members, fields, oddCharacters} = shape;
  if (depth > MAX_DEPTH)
    throw new RpcError(
      RpcCode.PARSE_ERROR,
      `the body: expected at most ${MAX_DEPTH} levels of nesting, got more`,
    );
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

function parseElement(element: unknown): Call {
  if (typeof element !== "object" || element === null || Array.isArray(element))
    return refuse(undefined, `expected a request object, got ${describe(element)}`);
  const fields = element as Record<string, unknown>;
  let idText: string | undefined;
  if (Object.hasOwn(fields, "id")) {
    const {id} = fields;
    if (typeof id === "string" && id.length > MAX_ID_CHARACTERS) {
      const error = createLimitError("an id", MAX_ID_CHARACTERS, id.length, "characters");
      return {idText: "null", method: "", params: [], error};
    }
    // The ids of a batch could hold enough lone surrogates to take 25 ms.
    const isText = typeof id === "string" && !LONE_SURROGATE.test(id);
    if (!isText && id !== null && !Number.isSafeInteger(id)) return refuse(undefined, describeId(id));
    // JSON.stringify takes 0.1 us for a number, and a batch has many.
    idText = isText ? JSON.stringify(id) : String(id);
  }
  const fault = NAMES.findFault(fields);
  if (fault !== undefined) return refuse(idText, fault);
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

function describeId(id: unknown): string {
  if (typeof id === "string") return "expected id to be well-formed Unicode, got a lone surrogate";
  return `expected id to be a string, null or an integer of at most ${Number.MAX_SAFE_INTEGER}, got ${describe(id)}`;
}

/** Text is only named: it may be long. */
function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return "text";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
