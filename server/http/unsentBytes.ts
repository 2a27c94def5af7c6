/**
 * Counts the bytes of finished answers that wait for their readers. A window limits each request (dispatch/lane.ts).
 * This file limits their sum. Above the limit, it closes the connection that has been stalled longest, among clients
 * with at least the average. A waiting byte keeps at most four bytes of memory in use (MAX_KEPT_FACTOR).
 */

interface StalledReply {
  readonly unsentBytes: number;
  readClient(): string;
  close(): void;
}

export class UnsentBytes {
  total = 0;
  /** Number of connections closed to stay below the limit. */
  cut = 0;
  private readonly stalled = new Set<StalledReply>();

  constructor(readonly limit: number) {}

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

  /** Closes connections of stalled replies until the total is within the limit. */
  relieve(): void {
    while (this.total > this.limit) {
      const reply = this.findVictim();
      if (reply === undefined) return;
      this.stalled.delete(reply);
      this.cut++;
      reply.close();
    }
  }

  private findVictim(): StalledReply | undefined {
    const byClient = new Map<string, number>();
    let sum = 0;
    for (const reply of this.stalled) {
      const client = reply.readClient();
      byClient.set(client, (byClient.get(client) ?? 0) + reply.unsentBytes);
      sum += reply.unsentBytes;
    }
    for (const reply of this.stalled)
      if ((byClient.get(reply.readClient()) as number) * byClient.size >= sum) return reply;
    return undefined;
  }
}
