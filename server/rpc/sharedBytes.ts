import {ClientCounts} from "./clientCounts.ts";

/**
 * Bytes that all clients hold together, within a limit. One client may have a quarter of it, so that no client keeps the
 * others out.
 */
interface ByteLimits {
  readonly bodyBytes: number;
  readonly bodyBytesTotal: number;
}

export class SharedBytes {
  /** Of one body. */
  readonly bodyLimit: number;
  private readonly limit: number;
  /** Of one client, and large enough for one body. */
  private readonly clientLimit: number;
  private total = 0;
  private readonly byClient = new ClientCounts();

  constructor({bodyBytes, bodyBytesTotal}: ByteLimits) {
    this.bodyLimit = bodyBytes;
    this.limit = bodyBytesTotal;
    this.clientLimit = Math.max(bodyBytes, Math.floor(bodyBytesTotal / 4));
  }

  /** @returns the limit that more bytes would exceed, and the bytes with them. undefined: they may be added */
  refuse(client: string, byteCount: number): {readonly limit: number; readonly got: number} | undefined {
    const own = this.byClient.of(client) + byteCount;
    if (own > this.clientLimit) return {limit: this.clientLimit, got: own};
    const got = this.total + byteCount;
    return got > this.limit ? {limit: this.limit, got} : undefined;
  }

  add(client: string, byteCount: number): void {
    this.byClient.add(client, byteCount);
    this.total += byteCount;
  }

  remove(client: string, byteCount: number): void {
    this.byClient.add(client, -byteCount);
    this.total -= byteCount;
  }
}
