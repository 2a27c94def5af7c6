/**
 * A number for each client (http/clientAddress.ts), usually 0. Zeros are removed many at once: V8 copies a Map again
 * and again if each request adds an entry and deletes one (dispatch/unfinishedRequests.ts).
 */

import {assertInvariant} from "../../storage/invariant.ts";

/** At least this many zeros are kept, and as many as there are other numbers. */
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
    if (this.zeros > KEPT_ZEROS && 2 * this.zeros > this.counts.size) {
      this.counts = new Map([...this.counts].filter(([, count]) => count !== 0));
      this.zeros = 0;
    }
    return after;
  }
}
