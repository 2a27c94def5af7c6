/** Validates JSON-RPC responses of nodes. Its NodeFailures contain no text from the node: they may be logged. */
import {isAscii, isUtf8} from "node:buffer";
import {NodeFailure} from "./node.ts";

export interface ErrorAnswer {
  readonly code: number;
  /** As the node wrote it: any length, any characters. */
  readonly message: string;
  readonly data: unknown;
}

export type Answer =
  | {readonly member: "result"; readonly result: unknown}
  | {readonly member: "error"; readonly error: ErrorAnswer};

type Fields = Record<string, unknown>;

/** @param takesUnread - also errors without an id, from servers that refuse a request unread. @throws NodeFailure */
export function parseAnswer(bytes: Buffer, id: number, takesUnread = false): Answer {
  const fields = asFields(parseJson(bytes));
  const answer = readAnswer(fields);
  const isUnread = takesUnread && answer.member === "error" && (fields.id ?? null) === null;
  if (readId(fields) !== id && !isUnread) throw new NodeFailure("its answer has another request's id");
  return answer;
}

/** @returns the answers in the order of the calls. @throws NodeFailure, also for one error for the whole batch */
export function parseBatchAnswer(bytes: Buffer, firstId: number, count: number): Answer[] {
  const parsed = parseJson(bytes);
  if (!Array.isArray(parsed)) throw new NodeFailure("its answer to a batch is no array");
  // Checked first, so that at most `count` elements are parsed.
  if (parsed.length !== count)
    throw new NodeFailure(
      `its answer to a batch of ${count} calls has another number of elements: ${parsed.length}`,
    );
  const answers = new Array<Answer | undefined>(count).fill(undefined);
  for (const element of parsed) {
    const fields = asFields(element);
    const at = (readId(fields) ?? Number.NaN) - firstId;
    if (!(at >= 0 && at < count)) throw new NodeFailure("its answer to a batch has another request's id");
    if (answers[at] !== undefined) throw new NodeFailure("its answer to a batch has an id twice");
    answers[at] = readAnswer(fields);
  }
  // There are as many distinct ids as calls, so each call has a response.
  return answers as Answer[];
}

/** Empty arrays and objects take some 30 times their text in memory. Parts of genuine responses are longer. */
const BYTES_PER_PART = 16;
const FREE_PARTS = 1000;

function parseJson(bytes: Buffer): unknown {
  requireFewParts(bytes);
  if (isUtf8(bytes)) {
    try {
      // Nearly all responses are ASCII, which decodes fastest as latin1.
      return JSON.parse(bytes.toString(isAscii(bytes) ? "latin1" : "utf8"));
    } catch {
      // It is not JSON, or truncated.
    }
  }
  throw new NodeFailure("its answer is not JSON-RPC 2.0");
}

function requireFewParts(bytes: Buffer): void {
  let left = FREE_PARTS + bytes.length / BYTES_PER_PART;
  for (const part of ["[", "{"])
    for (let at = bytes.indexOf(part); at !== -1; at = bytes.indexOf(part, at + 1))
      if (--left < 0) throw new NodeFailure("its answer has too many arrays and objects for its length");
}

function asFields(value: unknown): Fields {
  if (typeof value === "object" && value !== null && "jsonrpc" in value && value.jsonrpc === "2.0")
    return value as Fields;
  throw new NodeFailure("its answer is not JSON-RPC 2.0");
}

function readId({id}: Fields): number | undefined {
  return typeof id === "number" && Number.isSafeInteger(id) ? id : undefined;
}

function readAnswer(fields: Fields): Answer {
  // Some nodes send `"error":null` with a result.
  const error = fields.error ?? undefined;
  if (error !== undefined) return {member: "error", error: readError(error)};
  if (!("result" in fields)) throw new NodeFailure("its answer has neither result nor error");
  return {member: "result", result: fields.result};
}

/** @throws NodeFailure unless it is the error of a response */
export function readError(error: unknown): ErrorAnswer {
  if (typeof error === "object" && error !== null && "code" in error) {
    const {code, message, data} = error as Fields;
    if (typeof code === "number" && Number.isSafeInteger(code) && typeof message === "string")
      return {code, message, data};
  }
  throw new NodeFailure("the error in its answer is not one of JSON-RPC 2.0");
}
