/** Pauses between tries, each twice the last, until a time is over; and the one rule of when a failed call is made again. */
import {sleep} from "./abortable.ts";
import {RpcError} from "./rpcError.ts";

/** A block of layer 1. */
const LONGEST_MS = 12_000;
const FIRST_RETRY_MS = 50;
/** The server, or a proxy before it, is busy or away. */
const LATER: readonly unknown[] = [429, 502, 503, 504];

export class Pauses {
  private readonly endMs: number;

  /** @param totalMs - from now on. @param nextMs - the first pause. No pause is longer than 12 s */
  constructor(
    totalMs: number,
    private nextMs: number,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.endMs = performance.now() + totalMs;
  }

  /**
   * @param leastMs - what the server asks for
   * @returns after the pause; false, at once: no time is left for it. @throws the signal's reason
   */
  async wait(leastMs = 0): Promise<boolean> {
    const leftMs = this.endMs - performance.now();
    if (leftMs <= 0 || leastMs > leftMs) return false;
    await sleep(Math.max(Math.min(this.nextMs, leftMs), leastMs), this.signal);
    this.nextMs = Math.min(2 * this.nextMs, LONGEST_MS);
    return true;
  }
}

/**
 * Asks again while the server is busy or away: HTTP status 429, 502, 503 or 504, or a connection that breaks. For what takes long.
 *
 * @param ask - a call that changes nothing
 * @param retryMs - after the first failure
 * @throws the last failure; at once, any other one; the signal's reason
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
