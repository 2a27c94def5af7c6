/** JSON-RPC 2.0: the text of calls, and answers read without trust. */
import {count, isObject, shown} from "../bytes/values.ts";
import {hasMoreValues} from "./jsonValues.ts";
import {RpcError} from "./rpcError.ts";

/** The server's word on one call. */
export type CallAnswer = {readonly result: unknown} | {readonly error: RpcError};

type Fields = Readonly<Record<string, unknown>>;

/** A value of an answer has more bytes than this, unless the answer is there to fill memory. */
const BYTES_PER_VALUE = 32;
/** The values of a shorter answer take little memory, whatever they are. */
const SHORT_BYTES = 65_536;

export function encodeCall(id: number, method: string, params: readonly unknown[]): string {
  return JSON.stringify({jsonrpc: "2.0", id, method, params});
}

/**
 * Reads the answer to a batch, or to one call that was sent alone.
 *
 * @param ids - of the calls, all different
 * @param isBatch - whether the calls were sent as an array
 * @param status - of the HTTP answer, for errors
 * @param maxBytes - no right answer has more: it bounds the values that are made
 * @returns an answer for each id, in their order
 * @throws RpcError the one error with which the server refused the batch as a whole; BAD_ANSWER unless each call is answered
 *   exactly once, and nothing else is
 */
export function readAnswers(
  bytes: Uint8Array,
  ids: readonly number[],
  isBatch: boolean,
  status: number,
  maxBytes: number,
): readonly CallAnswer[] {
  const parsed = parseJson(bytes, maxBytes);
  if (!Array.isArray(parsed)) {
    const fields = readFields(parsed);
    const answer = readAnswer(fields, status);
    // An error that the server cannot tie to a call has the id null.
    if ("error" in answer && (isBatch || !isPresent(fields.id))) throw answer.error;
    if (isBatch) throw badAnswer("expected an array in answer to a batch, got an object");
    if (fields.id !== ids[0])
      throw badAnswer(`expected the id ${ids[0]} in the answer, got ${shown(fields.id)}`);
    return [answer];
  }
  if (!isBatch) throw badAnswer("expected an object in answer to a single call, got an array");
  if (parsed.length !== ids.length)
    throw badAnswer(`expected ${count(ids.length, "element")} in answer to a batch, got ${parsed.length}`);
  const places = new Map(ids.map((id, at) => [id, at]));
  const answers = new Array<CallAnswer>(ids.length);
  for (const element of parsed) {
    const fields = readFields(element);
    const at = places.get(fields.id as number);
    if (at === undefined) throw badAnswer("the answer to a batch has an id of another call, or an id twice");
    places.delete(fields.id as number);
    answers[at] = readAnswer(fields, status);
  }
  return answers;
}

/** The error in the body of an HTTP refusal. @returns undefined if there is none */
export function readRefusal(bytes: Uint8Array, status: number, maxBytes: number): RpcError | undefined {
  try {
    const answer = readAnswer(readFields(parseJson(bytes, maxBytes)), status);
    return "error" in answer ? answer.error : undefined;
  } catch {
    return undefined; // a page for people, as proxies send it
  }
}

export function badAnswer(message: string): RpcError {
  return new RpcError("BAD_ANSWER", message);
}

function parseJson(bytes: Uint8Array, maxBytes: number): unknown {
  const maxValues = Math.ceil(maxBytes / BYTES_PER_VALUE);
  if (bytes.length > SHORT_BYTES && hasMoreValues(bytes, maxValues))
    throw badAnswer(`expected at most ${maxValues} JSON values in the answer, got more`);
  try {
    return JSON.parse(new TextDecoder("utf-8", {fatal: true}).decode(bytes));
  } catch {
    throw badAnswer("the answer is not JSON");
  }
}

function readFields(value: unknown): Fields {
  if (isObject(value) && Object.hasOwn(value, "jsonrpc") && value.jsonrpc === "2.0") return value;
  throw badAnswer("the answer is not JSON-RPC 2.0");
}

function readAnswer(fields: Fields, status: number): CallAnswer {
  // Some nodes write `"error":null` beside a result.
  if (isPresent(fields.error)) return {error: readError(fields.error, status)};
  if (!Object.hasOwn(fields, "result")) throw badAnswer("the answer has neither result nor error");
  return {result: fields.result};
}

function readError(error: unknown, status: number): RpcError {
  if (isObject(error)) {
    const {code, message, data} = error;
    if (Number.isSafeInteger(code) && typeof message === "string")
      return new RpcError(code as number, message, {data, status});
  }
  throw badAnswer("the error in the answer is not one of JSON-RPC 2.0");
}

function isPresent(value: unknown): boolean {
  return (value ?? undefined) !== undefined;
}
