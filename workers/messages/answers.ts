/**
 * The text of JSON-RPC responses, and of the answers that a task returns:
 *
 *   response    {"jsonrpc":"2.0","id":<id>,"result":<text>}       or "error" in place of "result"
 *
 *   text        | response 0 , | response 1 , | response 3 , |    call 2 failed: it has an empty range
 *   ends                       e0             e1 = e2        e3
 *
 * Each response is followed by one comma, so that neighbouring answers can go into a batch's text without a change.
 */
import type {Failure} from "./failure.ts";

export interface Answers {
  /** Begins with the text. It may lie in an answer memory, with other bytes behind it. */
  readonly text: Uint8Array;
  /** One per call: where its response and comma end. More may follow that mean nothing. */
  readonly ends: Uint32Array;
  readonly failures: readonly (Failure & {readonly call: number})[];
  /** Estimates whose slice was too short. They have an empty range and no entry in `failures`. Default: none. */
  readonly unfinished?: readonly number[] | undefined;
  /** How many estimates were begun, counted from the first. The others can be sent again. Default: all. */
  readonly begun?: number | undefined;
}

export type Settlement<TaskAnswers = Answers> = {readonly answers: TaskAnswers} | {readonly error: unknown};

/** @param onSettled - called once, with what becomes of the promise */
export function whenSettled<T>(promise: Promise<T>, onSettled: (settlement: Settlement<T>) => void): void {
  promise.then(
    answers => onSettled({answers}),
    (error: unknown) => onSettled({error}),
  );
}

/** After each response. ASCII: one byte. */
export const SEPARATOR = ",";
/** Closes a response whose result was written after `openResult`. */
export const RESPONSE_END = "}";

/** The text of a response up to its result. @param idText - JSON text of the call's id */
export function openResult(idText: string): string {
  return `{"jsonrpc":"2.0","id":${idText},"result":`;
}

/** A whole response, without the comma. @param text - JSON text of the result or of the error object */
export function encodeResponse(idText: string, member: "result" | "error", text: string): string {
  return `{"jsonrpc":"2.0","id":${idText},"${member}":${text}}`;
}

/** Where the answer of call `call` begins in the text; its comma is the last byte before `ends[call]`. */
export function answerStart(ends: Uint32Array, call: number): number {
  return call === 0 ? 0 : (ends[call - 1] as number);
}
