import {ClientCounts} from "./clientCounts.ts";

interface ByteLimits {
  readonly bodyBytes: number;
  readonly bodyBytesTotal: number;
}

/** The limit that would be exceeded, and the bytes that would be in use. */
export interface Excess {
  readonly limit: number;
  readonly got: number;
}

export interface ByteHolder {
  readonly client: string;
  /** Must release its bytes by `remove`. */
  giveWay(excess: Excess): void;
}

/**
 * Limits the memory for request bodies: that of each client to a quarter of the total, or to one body if that is more.
 * If the total is exceeded, the client with the most bytes loses its newest ones.
 */
export class SharedBytes {
  readonly bodyLimit: number;
  private readonly limit: number;
  private readonly clientLimit: number;
  private total = 0;
  private readonly byClient = new ClientCounts();
  /** Oldest first. */
  private readonly holders = new Set<ByteHolder>();

  constructor({bodyBytes, bodyBytesTotal}: ByteLimits) {
    this.bodyLimit = bodyBytes;
    this.limit = bodyBytesTotal;
    this.clientLimit = Math.max(bodyBytes, Math.floor(bodyBytesTotal / 4));
  }

  /** @returns the limit that the bytes would exceed; undefined: they were added */
  add(holder: ByteHolder, byteCount: number): Excess | undefined {
    const {client} = holder;
    const own = this.byClient.of(client) + byteCount;
    if (own > this.clientLimit) return {limit: this.clientLimit, got: own};
    while (this.total + byteCount > this.limit) {
      const excess = {limit: this.limit, got: this.total + byteCount};
      const largest = this.findLargest();
      if (largest === undefined || this.byClient.of(largest.client) <= own) return excess;
      largest.giveWay(excess);
    }
    this.holders.add(holder);
    this.byClient.add(client, byteCount);
    this.total += byteCount;
    return undefined;
  }

  remove(holder: ByteHolder, byteCount: number): void {
    this.holders.delete(holder);
    this.byClient.add(holder.client, -byteCount);
    this.total -= byteCount;
  }

  private findLargest(): ByteHolder | undefined {
    let largest: ByteHolder | undefined;
    let most = 0;
    for (const holder of this.holders) {
      const bytes = this.byClient.of(holder.client);
      if (bytes < most) continue;
      most = bytes;
      largest = holder;
    }
    return largest;
  }
}
