/** What a request is turned away with while there is too much to do: an error, and when to try again (HTTP 503). */
import {RpcCode, RpcError} from "../rpc/rpcError.ts";

export interface Busy {
  readonly error: RpcError;
  /** At least 1. */
  readonly retryAfterSeconds: number;
}

/**
 * Has a queue room for a request? A client that has nothing in it may still enter a full one, so that no client's requests
 * keep all others out; up to twice the limit, since addresses cost little.
 *
 * @param cost - of what is in the queue
 */
export function hasRoom(cost: number, limit: number, isNewClient: boolean): boolean {
  return cost < (isNewClient ? 2 * limit : limit);
}

/** @param leftMs - of the request's time limit */
export function createWaitError(what: string, waitMs: number, limitMs: number, leftMs: number): Busy {
  const message = `${what} would wait longer than the request may take: try again later`;
  const error = new RpcError(RpcCode.LIMIT_EXCEEDED, message, {limit: limitMs, got: Math.round(waitMs)});
  return {error, retryAfterSeconds: toSeconds(waitMs - leftMs)};
}

export function toSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
