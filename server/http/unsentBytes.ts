/**
 * Bytes of finished answers that wait for their readers, all requests together. A window bounds each request
 * (dispatch/dispatcher.ts); this bounds their sum: beyond it the connection that has been stalled longest is cut.
 * A byte that waits keeps at most four of memory (MAX_KEPT_FACTOR).
 */

/** A reply whose reader does not take what there is. */
export interface StalledReply {
  readonly unsentBytes: number;
  close(): void;
}

export class UnsentBytes {
  total = 0;
  /** Replies cut to stay below the limit. */
  cut = 0;
  readonly limit: number;
  /** In the order in which they stalled. */
  private readonly stalled = new Set<StalledReply>();

  constructor(limit: number) {
    this.limit = limit;
  }

  add(byteCount: number): void {
    this.total += byteCount;
  }

  remove(byteCount: number): void {
    this.total -= byteCount;
  }

  stall(reply: StalledReply): void {
    this.stalled.add(reply);
  }

  unstall(reply: StalledReply): void {
    this.stalled.delete(reply);
  }

  /** Cuts stalled replies until the total is within the limit. */
  relieve(): void {
    if (this.total <= this.limit) return;
    for (const reply of this.stalled) {
      this.stalled.delete(reply);
      this.cut++;
      reply.close();
      if (this.total <= this.limit) return;
    }
  }
}
