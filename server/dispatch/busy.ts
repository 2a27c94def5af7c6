/** The answer to a request that is turned away because a queue is too long: an error, and when to try again (HTTP 503). */
import {RpcCode, RpcError} from "../rpc/rpcError.ts";

export interface Busy {
  readonly error: RpcError;
  /** At least 1. */
  readonly retryAfterSeconds: number;
}

/**
 * Tells whether a queue has room for a request. A client that has nothing in the queue may enter even if it is full, so
 * that no client keeps all others out. The bound for that is twice the limit, because one person can use many addresses.
 *
 * @param cost - of everything in the queue
 */
export function hasRoom(cost: number, limit: number, isNewClient: boolean): boolean {
  return cost < (isNewClient ? 2 * limit : limit);
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
