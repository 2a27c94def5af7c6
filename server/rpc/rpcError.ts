/** The JSON-RPC errors of this service: codes, data and text. Only the server knows the numbers. */
import {encodeResponse} from "../../workers/messages/answers.ts";
import {describeLost, type NearestUnpruned} from "../../workers/messages/failure.ts";
import type {Head} from "../../workers/messages/head.ts";
import {encodeQuantity} from "./quantity.ts";

/** Most characters of a value that a message shows. */
const MAX_SHOWN = 48;

export const RpcCode = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  INTERNAL_ERROR: -32603,
  BLOCK_UNKNOWN: -32001,
  /** The same code as BLOCK_UNKNOWN: the store has not this part of the state. */
  NOT_IN_SLICE: -32001,
  /** The same code as BLOCK_UNKNOWN: another server has the answer. */
  RULES_UNKNOWN: -32001,
  NOT_FINALIZED: -32002,
  /** The same code as NOT_FINALIZED: the answer is not available now. */
  UPSTREAM_DOWN: -32002,
  NOT_AVAILABLE: -32004,
  LIMIT_EXCEEDED: -32005,
  /** As in ethereum/execution-apis. `data` is the revert data of the contract. */
  EXECUTION_REVERTED: 3,
  EXECUTION_FAILED: -32000,
} as const;

export type RpcCode = (typeof RpcCode)[keyof typeof RpcCode];

/** Callers may rely on `code`. It has no stack: that takes 10 us, and a batch may have a thousand errors. */
export class RpcError extends Error {
  constructor(
    readonly code: RpcCode,
    message: string,
    readonly data?: unknown,
  ) {
    const {stackTraceLimit} = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "RpcError";
  }
}

/** The block is not here yet, or not finalized yet. Another service that follows the same chain may be further. */
export class AheadError extends RpcError {}

/** The request is above a limit, so a retry does not help. */
export class ExcessError extends RpcError {}

export function createParamsError(message: string): RpcError {
  return new RpcError(RpcCode.INVALID_PARAMS, message);
}

/** @param path - of the value, from the parameter. @param rule - such as "an object" */
export function createValueError(path: string, value: unknown, rule: string): RpcError {
  return createParamsError(`${path}: expected ${rule}, got ${shorten(value)}`);
}

/** @param what - such as "a batch". @param unit - such as "calls" */
export function createLimitError(what: string, limit: number, got: number, unit: string): ExcessError {
  return new ExcessError(RpcCode.LIMIT_EXCEEDED, `${what}: expected at most ${limit} ${unit}, got ${got}`, {
    limit,
    got,
  });
}

/** The request's time is over. Both in milliseconds. */
export function createTimeoutError(limit: number, got: number): RpcError {
  const message = `the request was not finished after ${limit} ms`;
  return new RpcError(RpcCode.LIMIT_EXCEEDED, message, {limit, got});
}

/** @param why - it cannot be answered now. @param data - default: of a service that can take no call */
export function createLaterError(why: string, data = {limit: 0, got: 1}): RpcError {
  return new RpcError(RpcCode.LIMIT_EXCEEDED, `${why}: try again later`, data);
}

/** @param kind - AheadError for a block above the newest one in the store, or of an unknown hash */
export function createBlockUnknownError(block: string, head: Head, kind = RpcError): RpcError {
  const [earliest, finalized, latest] = [head.earliest, head.finalized, head.latest].map(encodeQuantity);
  const what = head.latest === undefined ? "it is empty" : `it has blocks ${earliest} to ${latest}`;
  const message = `block ${block} is not in the store: ${what}`;
  return new kind(RpcCode.BLOCK_UNKNOWN, message, {earliest, finalized});
}

/** The block's state has been removed, or never was recorded. @param nearest - blocks that can be proved */
export function createPrunedError(block: string, nearest: NearestUnpruned | undefined, head: Head): RpcError {
  const blocks = [nearest?.below, nearest?.above].filter(one => one !== undefined);
  const names = blocks.map(one => `block ${encodeQuantity(one)}`).join(" and ");
  const advice = names === "" ? "" : `; the nearest that can be proved: ${names}`;
  return new RpcError(
    RpcCode.BLOCK_UNKNOWN,
    `${describeLost(`block ${block}`, nearest?.isMissed === true)}${advice}`,
    {
      earliest: encodeQuantity(head.earliest),
      finalized: encodeQuantity(head.finalized),
      below: encodeQuantity(nearest?.below),
      above: encodeQuantity(nearest?.above),
    },
  );
}

/** The block is in the store, but not finalized on layer 1. */
export function createNotFinalizedError(block: string, head: Head): RpcError {
  const finalized = encodeQuantity(head.finalized);
  const what =
    finalized === null ? "no block is finalized yet" : `the newest finalized block is ${finalized}`;
  return new AheadError(RpcCode.NOT_FINALIZED, `block ${block} is not finalized: ${what}`, {finalized});
}

/** @returns a whole response object, without a comma. @param idText - the id as JSON text */
export function encodeError(idText: string, error: RpcError): string {
  const data = error.data === undefined ? "" : `,"data":${JSON.stringify(error.data)}`;
  const message = JSON.stringify(error.message);
  return encodeResponse(idText, "error", `{"code":${error.code},"message":${message}${data}}`);
}

/** What a message shows of a value, after "got": at most 48 characters, and of arrays and objects only the kind. */
export function shorten(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value !== "string") return String(value);
  if (value.length <= MAX_SHOWN) return JSON.stringify(value);
  return `${JSON.stringify(value.slice(0, MAX_SHOWN))}... (${value.length} characters)`;
}
