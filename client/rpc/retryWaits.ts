/** The waits between tries. Each is twice the last, up to a bound. A random part is taken off, so that callers spread out. */

export interface RetrySettings {
  /** Tries after the first one. 0: none. */
  readonly times: number;
  /** Before the second try. */
  readonly firstMs: number;
  /** No wait is longer. A server that asks for more (Retry-After) is not asked again: its error is thrown. */
  readonly longestMs: number;
}

export const DEFAULT_RETRY: RetrySettings = {times: 5, firstMs: 250, longestMs: 60_000};

/**
 * @param tries - made so far, at least 1
 * @param retryAfterMs - what the server asks for
 * @returns milliseconds to wait. undefined: do not try again
 */
export function retryWaitMs(
  {times, firstMs, longestMs}: RetrySettings,
  tries: number,
  retryAfterMs = 0,
): number | undefined {
  if (tries > times || retryAfterMs > longestMs) return undefined;
  const stepMs = Math.min(firstMs * 2 ** (tries - 1), longestMs);
  return Math.max(stepMs * (0.5 + 0.5 * Math.random()), retryAfterMs);
}
