/** Exponential backoff until a deadline, and the one rule of which failed calls are retried. */
import {sleep} from "./abortable.ts";
import {RpcError} from "./rpcError.ts";

/** The time of a layer-1 block. */
const LONGEST_MS = 12_000;
const FIRST_RETRY_MS = 50;
/** HTTP statuses of a server, or of a proxy in front of it, that is busy or away. */
const LATER: readonly unknown[] = [429, 502, 503, 504];

export class Pauses {
  private readonly endMs: number;

  /** @param totalMs - of all pauses, from now. @param nextMs - the first pause. No pause is longer than 12 s */
  constructor(
    totalMs: number,
    private nextMs: number,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.endMs = performance.now() + totalMs;
  }

  /** @param leastMs - of the server. @returns false at once if no time is left for it. @throws the signal's reason */
  async wait(leastMs = 0): Promise<boolean> {
    const leftMs = this.endMs - performance.now();
    if (leftMs <= 0 || leastMs > leftMs) return false;
    await sleep(Math.max(Math.min(this.nextMs, leftMs), leastMs), this.signal);
    this.nextMs = Math.min(2 * this.nextMs, LONGEST_MS);
    return true;
  }
}

/**
 * Retries while the server is busy or away: HTTP status 429, 502, 503 or 504, or a broken connection.
 *
 * @param ask - a call that changes nothing
 * @param retryMs - how long, from the first failure
 * @throws the last failure; any other failure at once; the signal's reason
 */
export async function askAgain<Answer>(
  retryMs: number,
  signal: AbortSignal | undefined,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  let pauses: Pauses | undefined;
  for (;;)
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (error.code !== "UNREACHABLE" && !LATER.includes(error.status)) throw error;
      pauses ??= new Pauses(retryMs, FIRST_RETRY_MS, signal);
      if (!(await pauses.wait(error.retryAfterMs))) throw error;
    }
}
