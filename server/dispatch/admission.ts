/** Which requests a queue admits. Others get HTTP 503 with an error and Retry-After. */

import {ClientCounts} from "../fairness/clientCounts.ts";
import type {ClientQueue} from "../fairness/clientQueue.ts";
import type {QueueName} from "../observe/queueFigures.ts";
import type {RefusalLog} from "../observe/refusalLog.ts";
import {createLaterError, type RpcError} from "../rpc/rpcError.ts";

export interface Busy {
  readonly error: RpcError;
  /** At least 1. */
  readonly retryAfterSeconds: number;
}

/** As a multiple of one client's limit. Above it, the last request of the client with the most is evicted. */
const FULL_CLIENTS = 4;
/** A client below this share of its own limit is admitted even if the queue is full. */
const LITTLE = 1 / 64;

interface Fill {
  readonly limit: number;
  readonly got: number;
}

interface Entry {
  readonly what: string;
  /** The error's message if the queue is full. */
  readonly fullMessage: string;
  readonly cost: number;
  /** The limit that was reached. undefined: the queue has room, but the wait would be too long. */
  readonly full: Fill | undefined;
  /** It had been admitted, and makes room for a client that has less. */
  readonly isEvicted?: boolean;
  readonly waitMs: number;
  readonly leftMs: number;
  readonly retryMs: number;
}

/** Counts the refusal. @param limitMs - the time limit of a request. @returns the answer to the request */
export function refuseEntry(entry: Entry, queue: QueueName, limitMs: number, refusals: RefusalLog): Busy {
  const {what, fullMessage, cost, full, isEvicted = false, waitMs, leftMs, retryMs} = entry;
  refusals.note(queue, isEvicted ? "gave_way" : full === undefined ? "wait" : "queue_full", waitMs);
  if (full !== undefined) return createBusy(fullMessage, {limit: full.limit, got: full.got + cost}, retryMs);
  const message = `${what} would wait longer than the request may take`;
  return createBusy(message, {limit: limitMs, got: Math.round(waitMs)}, waitMs - leftMs);
}

function createBusy(message: string, data: Fill, retryMs: number): Busy {
  return {error: createLaterError(message, data), retryAfterSeconds: Math.max(1, Math.ceil(retryMs / 1000))};
}

/** The cost of what waits or runs, by client: who may add more, and whose request is evicted for it. */
export class ClientCosts<T extends {readonly client: string}> {
  total = 0;
  private readonly byClient = new ClientCounts();
  /** Like `total`, but at most `limit` of each client, so that no single request fills the queue for the others. */
  private counted = 0;

  /** @param limit - a client at this cost may add nothing. @param queue - the requests that wait */
  constructor(
    private readonly limit: number,
    private readonly queue: Pick<ClientQueue<T>, "findLargest" | "pop">,
  ) {}

  of(client: string): number {
    return this.byClient.of(client);
  }

  add(client: string, cost: number): void {
    const after = this.byClient.add(client, cost);
    this.total += cost;
    this.counted += Math.min(after, this.limit) - Math.min(after - cost, this.limit);
  }

  /** @returns the limit that keeps the client from adding this cost. undefined: the client may add it */
  findFull(client: string, cost: number): Fill | undefined {
    const {limit, most, counted} = this;
    const own = this.of(client);
    if (own >= limit) return {limit, got: own};
    if (counted < most || own + cost <= limit * LITTLE) return undefined;
    const largest = this.findLargest();
    return largest === undefined || this.of(largest) > own + cost ? undefined : {limit: most, got: counted};
  }

  /** Above the limit of all: removes the last waiting request of the client with the most, unless it is this one. */
  evictExcess(client: string): T | undefined {
    if (this.counted <= this.most) return undefined;
    const largest = this.findLargest();
    if (largest === undefined || this.of(largest) <= this.of(client)) return undefined;
    return this.queue.pop(largest);
  }

  get fill(): Fill {
    return {limit: this.most, got: this.counted};
  }

  private get most(): number {
    return FULL_CLIENTS * this.limit;
  }

  private findLargest(): string | undefined {
    return this.queue.findLargest(client => this.of(client));
  }
}
