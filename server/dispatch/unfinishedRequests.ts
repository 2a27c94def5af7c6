/**
 * The admitted requests that are not answered yet, in no order. Each knows its place in the list.
 *
 * A Set would keep answered requests in memory: its old copies, which V8 makes whenever it grows or shrinks, refer to
 * them. Once one copy is in old space, all later ones survive every scavenge. That took 4 of the main thread's 40 us
 * for a request (Node 20.20).
 */
import type {PendingRequest} from "./pendingRequest.ts";

export class UnfinishedRequests {
  private readonly requests: PendingRequest[] = [];

  add(request: PendingRequest): void {
    request.unfinishedAt = this.requests.length;
    this.requests.push(request);
  }

  /** The last request takes its place. Does nothing for a request that is not in the list. */
  delete(request: PendingRequest): void {
    const at = request.unfinishedAt;
    if (at === undefined) return;
    request.unfinishedAt = undefined;
    const last = this.requests.pop() as PendingRequest;
    if (last === request) return;
    this.requests[at] = last;
    last.unfinishedAt = at;
  }

  /** @returns a copy: requests may be deleted while the caller goes through it */
  listOverdue(nowMs: number): PendingRequest[] {
    return this.requests.filter(({clock}) => clock.isOverdue(nowMs));
  }
}
