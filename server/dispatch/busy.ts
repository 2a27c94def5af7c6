/** The answer to a request that is turned away because a queue is too long: an error, and when to try again (HTTP 503). */

import type {QueueName} from "../observe/queueFigures.ts";
import type {RefusalLog} from "../observe/refusalLog.ts";
import {ClientCounts} from "../rpc/clientCounts.ts";
import {RpcCode, RpcError} from "../rpc/rpcError.ts";

export interface Busy {
  readonly error: RpcError;
  /** At least 1. */
  readonly retryAfterSeconds: number;
}

/** As many clients as this can fill a queue together. Fewer cannot keep another client out. */
const FILLING_CLIENTS = 4;

/** A limit of a queue, and what stands against it. */
interface Fill {
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

/** A request that finds no room in a queue, or would wait too long. */
interface Entry {
  /** Such as "the request". */
  readonly what: string;
  /** What the caller is told if the queue is full. */
  readonly fullMessage: string;
  readonly cost: number;
  /** The limit that is reached; undefined: there is room, and the wait is too long. */
  readonly full: Fill | undefined;
  /** How long it would wait. */
  readonly waitMs: number;
  /** What is left of its time limit. */
  readonly leftMs: number;
  /** After this time a full queue may have room. */
  readonly retryMs: number;
}

/** Counts the refusal. @param limitMs - the time limit of a request. @returns what the request is answered */
export function refuseEntry(entry: Entry, queue: QueueName, limitMs: number, refusals: RefusalLog): Busy {
  const {what, fullMessage, cost, full, waitMs, leftMs, retryMs} = entry;
  refusals.note(queue, full === undefined ? "wait" : "queue_full", waitMs);
  if (full !== undefined) return createBusy(fullMessage, {limit: full.limit, got: full.got + cost}, retryMs);
  const message = `${what} would wait longer than the request may take`;
  return createBusy(message, {limit: limitMs, got: Math.round(waitMs)}, waitMs - leftMs);
}

function createBusy(message: string, data: Fill, retryMs: number): Busy {
  const error = new RpcError(RpcCode.LIMIT_EXCEEDED, `${message}: try again later`, data);
  return {error, retryAfterSeconds: Math.max(1, Math.ceil(retryMs / 1000))};
}

/** The cost of what a lane has to do, by client: whether a client may have more. */
export class ClientCosts {
  /** Of all clients. */
  total = 0;
  private readonly byClient = new ClientCounts();
  /** As `total`, of each client at most `limit`, so that no request fills the lane for others, whatever it costs. */
  private counted = 0;

  /** @param limit - a client that has reached it may add nothing */
  constructor(private readonly limit: number) {}

  add(client: string, cost: number): void {
    const after = this.byClient.add(client, cost);
    this.total += cost;
    this.counted += Math.min(after, this.limit) - Math.min(after - cost, this.limit);
  }

  /** @returns the limit that is reached. undefined: there is room for more of the client's */
  findFull(client: string): Fill | undefined {
    return findFull(this.byClient.of(client), this.counted, this.limit);
  }
}
