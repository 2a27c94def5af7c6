/**
 * A number for each client (http/clientAddress.ts), which is 0 most of the time. Zeros are forgotten many at once, because a Map that
 * is added to and deleted from for each request is copied again and again (dispatch/unfinishedRequests.ts).
 */

import {assertInvariant} from "../invariant.ts";

/** As many zeros may be kept, and as many as there are other numbers. */
const KEPT_ZEROS = 64;

export class ClientCounts {
  private counts = new Map<string, number>();
  private zeros = 0;

  of(client: string): number {
    return this.counts.get(client) ?? 0;
  }

  /** @returns the client's number after the change */
  add(client: string, change: number): number {
    const before = this.counts.get(client);
    const after = (before ?? 0) + change;
    assertInvariant(after >= 0, "a client's count is not negative");
    if (before === 0) this.zeros--;
    if (after === 0) this.zeros++;
    this.counts.set(client, after);
    if (this.zeros > KEPT_ZEROS && 2 * this.zeros > this.counts.size) this.forgetZeros();
    return after;
  }

  private forgetZeros(): void {
    this.counts = new Map([...this.counts].filter(([, count]) => count !== 0));
    this.zeros = 0;
  }
}
