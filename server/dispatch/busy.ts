/** The answer to a request that is turned away because a queue is too long: an error, and when to try again (HTTP 503). */
import {RpcCode, RpcError} from "../rpc/rpcError.ts";

export interface Busy {
  readonly error: RpcError;
  /** At least 1. */
  readonly retryAfterSeconds: number;
}

/** As many clients as this can fill a queue together. Fewer cannot keep another client out. */
const FILLING_CLIENTS = 4;

/** A limit of a queue, and what stands against it. */
export interface Fill {
  readonly limit: number;
  readonly got: number;
}

/**
 * @param own - cost of what the client has in the queue
 * @param all - cost of everything in the queue
 * @param limit - of one client
 * @returns the limit that is reached, the client's own or that of all clients. undefined: a request of the client has room
 */
export function findFull(own: number, all: number, limit: number): Fill | undefined {
  if (own >= limit) return {limit, got: own};
  const most = FILLING_CLIENTS * limit;
  return all >= most ? {limit: most, got: all} : undefined;
}

/** @param leftMs - what is left of the request's time limit */
export function createWaitError(what: string, waitMs: number, limitMs: number, leftMs: number): Busy {
  const message = `${what} would wait longer than the request may take: try again later`;
  const error = new RpcError(RpcCode.LIMIT_EXCEEDED, message, {limit: limitMs, got: Math.round(waitMs)});
  return {error, retryAfterSeconds: toSeconds(waitMs - leftMs)};
}

export function toSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
