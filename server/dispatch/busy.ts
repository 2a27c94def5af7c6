/** The answer to a request that is turned away because a queue is too long: an error, and when to try again (HTTP 503). */

import {ClientCounts} from "../fairness/clientCounts.ts";
import type {ClientQueue} from "../fairness/clientQueue.ts";
import type {QueueName} from "../observe/queueFigures.ts";
import type {RefusalLog} from "../observe/refusalLog.ts";
import {RpcCode, RpcError} from "../rpc/rpcError.ts";

export interface Busy {
  readonly error: RpcError;
  /** At least 1. */
  readonly retryAfterSeconds: number;
}

/** All clients together may have this many times what one may. Above it, the client that has most gives way. */
const FULL_CLIENTS = 4;
/** A client with less than this share of its own limit is admitted whatever the others have. */
const LITTLE = 1 / 64;

/** A limit of a queue, and what stands against it. */
interface Fill {
  readonly limit: number;
  readonly got: number;
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
  /** Admitted before, it gives way to a client that has less. */
  readonly isGivingWay?: boolean;
  /** How long it would wait. */
  readonly waitMs: number;
  /** What is left of its time limit. */
  readonly leftMs: number;
  /** After this time a full queue may have room. */
  readonly retryMs: number;
}

/** Counts the refusal. @param limitMs - the time limit of a request. @returns what the request is answered */
export function refuseEntry(entry: Entry, queue: QueueName, limitMs: number, refusals: RefusalLog): Busy {
  const {what, fullMessage, cost, full, isGivingWay = false, waitMs, leftMs, retryMs} = entry;
  refusals.note(queue, isGivingWay ? "gave_way" : full === undefined ? "wait" : "queue_full", waitMs);
  if (full !== undefined) return createBusy(fullMessage, {limit: full.limit, got: full.got + cost}, retryMs);
  const message = `${what} would wait longer than the request may take`;
  return createBusy(message, {limit: limitMs, got: Math.round(waitMs)}, waitMs - leftMs);
}

function createBusy(message: string, data: Fill, retryMs: number): Busy {
  const error = new RpcError(RpcCode.LIMIT_EXCEEDED, `${message}: try again later`, data);
  return {error, retryAfterSeconds: Math.max(1, Math.ceil(retryMs / 1000))};
}

/** The cost of what waits or runs, by client: whether a client may have more, and who gives way to it. */
export class ClientCosts<T extends {readonly client: string}> {
  /** Of all clients. */
  total = 0;
  private readonly byClient = new ClientCounts();
  /** As `total`, of each client at most `limit`, so that no request fills the queue for others, whatever it costs. */
  private counted = 0;

  /** @param limit - a client that has reached it may add nothing. @param queue - of what waits */
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

  /** @returns the limit that keeps the client from adding this cost, of whatever size. undefined: it may be added */
  findFull(client: string, cost: number): Fill | undefined {
    const {limit, most, counted} = this;
    const own = this.of(client);
    if (own >= limit) return {limit, got: own};
    if (counted < most || own + cost <= limit * LITTLE) return undefined;
    const largest = this.findLargest();
    return largest === undefined || this.of(largest) > own + cost ? undefined : {limit: most, got: counted};
  }

  /** If there is more than all clients may have: takes the last that the client with most has waiting, unless that is the one who added. */
  takeExcess(client: string): T | undefined {
    if (this.counted <= this.most) return undefined;
    const largest = this.findLargest();
    if (largest === undefined || this.of(largest) <= this.of(client)) return undefined;
    return this.queue.pop(largest);
  }

  /** The limit of all clients, when it is reached. */
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
