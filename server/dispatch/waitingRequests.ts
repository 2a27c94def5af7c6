/**
 * The requests that wait in a lane, with equal shares for clients. Where tasks have yield points, requests of more than
 * one task have a queue of their own, so that no small request waits for them.
 */
import {ClientQueue} from "../fairness/clientQueue.ts";
import type {LaneId} from "../request/requestCalls.ts";
import type {PendingRequest} from "./pendingRequest.ts";

export class WaitingRequests {
  readonly small: ClientQueue<PendingRequest>;
  readonly large: ClientQueue<PendingRequest>;

  /** @param smallCost - highest cost of a small request */
  constructor(
    private readonly lane: LaneId,
    private readonly smallCost: number,
  ) {
    const costOf = (request: PendingRequest): number => request.nextSegment(lane)?.cost ?? 0;
    this.small = new ClientQueue(costOf);
    this.large = new ClientQueue(costOf);
  }

  get length(): number {
    return this.small.length + this.large.length;
  }

  queueFor(cost: number): ClientQueue<PendingRequest> {
    return cost > this.smallCost ? this.large : this.small;
  }

  push(request: PendingRequest): void {
    this.queueFor(request.progress[this.lane].cost).push(request);
  }

  /** As ClientQueue.findLargest, over both queues. */
  findLargest(sizeOf: (client: string) => number): string | undefined {
    const large = this.large.findLargest(sizeOf);
    const small = this.small.findLargest(sizeOf);
    if (large === undefined || small === undefined) return large ?? small;
    return sizeOf(small) > sizeOf(large) ? small : large;
  }

  /** As ClientQueue.pop, a large request first. */
  pop(client: string): PendingRequest | undefined {
    return this.large.pop(client) ?? this.small.pop(client);
  }
}
